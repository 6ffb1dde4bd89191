/// How much of the protocol a peer must implement for a case to apply.
package enum Level: String, CaseIterable, Sendable, Comparable {
    /// Links by connection data and reliable messages.
    case core
    case channels
    case datagram
    case mesh
    case invite
    case discovery
    case code
    /// Takes minutes: run only when it is requested by name or level.
    case flood

    package static func < (one: Level, other: Level) -> Bool { one.place < other.place }
    private var place: Int { Level.allCases.firstIndex(of: self) ?? 0 }
}

/// Which of the two has the lower uid: that peer dials at once, and it selects. Spec 6.
package enum UIDOrder: String, CaseIterable, Sendable {
    case testerLower = "tester-lower"
    case testerHigher = "tester-higher"
}

/// A fault that a case must find.
package struct Fault: ExpressibleByStringLiteral, Sendable {
    package let name: String
    /// A part of the case's failure message, where it could fail for another reason as well.
    let sign: String?

    package init(stringLiteral name: String) { self.init(name, nil) }

    init(_ name: String, _ sign: String?) { (self.name, self.sign) = (name, sign) }

    /// Creates a fault with which the case must fail with these words.
    static func seen(_ name: String, by sign: String) -> Fault { Fault(name, sign) }
}

/// One test case: a stimulus, and the result that it must have.
package struct Case: Sendable {
    /// Such as LINK-11.
    package let id: String
    /// The chapter of the specification, such as "6.3".
    package let chapter: String
    package let level: Level
    package let title: String
    /// What the tester does.
    package let stimulus: String
    /// What the subject must do.
    package let expectation: String
    /// Labels of the rules that the case tests.
    package let rules: [String]
    /// The faults that this case must find.
    package let bugs: [Fault]
    package let orders: [UIDOrder]
    /// The timeout in seconds, after which the case has failed.
    package let seconds: Int
    /// The network namespace in which it runs; nil for that of the suite, with traffic on the loopback interface only.
    package let network: NetworkNamespace?
    let body: @Sendable (CaseRun) throws -> Void

    /// * `orders`: both where it matters who has the lower uid.
    init(
        _ id: String, _ chapter: String, level: Level = .core, _ title: String, stimulus: String,
        expectation: String, rules: [String], bugs: [Fault], orders: [UIDOrder] = [.testerLower],
        seconds: Int = 20, network: NetworkNamespace? = nil,
        _ body: @escaping @Sendable (CaseRun) throws -> Void
    ) {
        self.id = id
        self.chapter = chapter
        self.level = level
        self.title = title
        self.stimulus = stimulus
        self.expectation = expectation
        self.rules = rules
        self.bugs = bugs
        self.orders = orders
        self.seconds = seconds
        self.network = network
        self.body = body
    }

    /// Whether it belongs to the subset that takes at most a second per case.
    package var isQuick: Bool { !Suite.lengthy.contains(id) && !["MUT", "FLOOD"].contains(section) }

    /// Whether it does little but wait, so that others can run meanwhile.
    package var isWaiting: Bool { Suite.waiting.contains(id) }

    /// Such as LINK.
    package var section: String { String(id.prefix { $0 != "-" }) }
}

/// The result of a case.
package enum CaseVerdict: String, CaseIterable, Sendable {
    case pass = "PASS"
    /// The subject did not do what the specification only recommends.
    case weak = "WEAK"
    case skip = "SKIP"
    case fail = "FAIL"
    /// The suite could not run it.
    case fault = "FAULT"
}
