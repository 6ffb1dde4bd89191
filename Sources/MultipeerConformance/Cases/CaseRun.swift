import Foundation
import MultipeerSecurity

/// One run of one case: the process of the subject, the tester's peers, the clock and the log.
///
/// A run has one thread. Everything in it happens while the case waits (`PollLoop`).
final class CaseRun {
    let order: UIDOrder
    let log = TrafficLog()
    let loop = PollLoop()
    var random: SplitMix64
    /// Recommendations of the specification that the subject does not follow.
    private(set) var weaknesses: [String] = []
    /// Set by a case whose first session is not usable afterwards: the last exchange is made on a fresh one only.
    var isSessionSpent = false
    /// The number of bytes by which the subject may be larger afterwards.
    var allowance = 1 << 20
    var sessions: [SubjectSession] = []
    /// What the case has introduced to each other.
    private(set) var pairs: [Pair] = []
    /// Files that are removed at the end.
    var files: [String] = []
    private let command: String
    private var running: Subject?
    private var links = 0
    private var handles = 0

    init(_ order: UIDOrder, shim command: String, random: SplitMix64) {
        self.order = order
        self.command = command
        self.random = random
    }

    /// Returns the subject, whose process starts at the first call.
    func subject() throws -> Subject {
        if let running { return running }
        let started = try Subject(command, in: self)
        running = started
        return started
    }

    /// Ends the process, removes what the case has written, and releases what refers to this run: each has descriptors.
    func quit() {
        running?.quit()
        running = nil
        sessions = []
        pairs = []
        loop.removeAll()
        for path in files { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Records that the subject does less than the specification recommends.
    func weak(_ text: String) { weaknesses.append(text) }

    func note(_ text: String) { log.add(.note, text) }

    func require(_ isSo: Bool, _ text: @autoclosure () -> String) throws {
        guard isSo else { throw CaseFailure(text()) }
    }

    func nextLinkName() -> String {
        links += 1
        return "link \(links)"
    }

    static func digest(_ bytes: [UInt8]) -> String { SHA256.hash(bytes).hex }
}

// MARK: - Peers

/// A session of the subject and a peer of the tester that hold each other's connection data.
final class Pair {
    let session: SubjectSession
    let tester: Tester
    var linkParameters: LinkParameters

    init(_ session: SubjectSession, _ tester: Tester, _ linkParameters: LinkParameters) {
        self.session = session
        self.tester = tester
        self.linkParameters = linkParameters
    }

    /// Makes a link, and waits until the subject reports that it is connected.
    func link(within duration: Duration = .seconds(10)) throws -> TesterLink {
        let link = try tester.link(linkParameters, within: duration)
        try session.expect("connected", of: tester.endpoint.uid, within: duration)
        return link
    }
}

extension CaseRun {
    /// Creates a session of the subject. Its uid lies in the middle, so that a tester can be below and above it.
    func session(_ settings: SubjectSession.Settings = .init(), _ name: String? = nil) throws
        -> SubjectSession
    {
        handles += 1
        var settings = settings
        if settings.uid == nil {
            var uid = random.uid()
            uid[0] = 0x40 | uid[0] & 0x3f
            settings.uid = uid
        }
        let made = try SubjectSession(name ?? "subject-\(handles)", settings, of: subject())
        sessions.append(made)
        return made
    }

    /// Creates a peer of the tester, whose uid is below or above the session's, according to the order of this run, or
    /// to `order`.
    func tester(
        beside session: SubjectSession, _ name: String = "tester", preference: Preference = .none,
        order: UIDOrder? = nil, address: [UInt8] = [127, 0, 0, 1]
    ) throws -> Tester {
        guard let outside = session.outside else {
            let uid = uid(beside: session, order)
            return try Tester(name, uid: uid, preference: preference, address: address, in: self)
        }
        let preference: Preference = session.preference == .none ? .none : .required
        // The peer may remember the keys of those that it has met, and keys do not depend on the seed.
        let uid = freshUID(beside: session, order)
        return try Tester(
            name, uid: uid, preference: preference, address: outside.source, zone: outside.zone, in: self)
    }

    /// Returns a uid below or above the session's.
    func uid(beside session: SubjectSession, _ order: UIDOrder? = nil) -> [UInt8] {
        uid(beside: session.uid, order)
    }

    /// Returns a uid below or above another one.
    func uid(beside other: [UInt8], _ order: UIDOrder? = nil) -> [UInt8] {
        var uid = random.uid()
        while true {
            uid[0] = (order ?? self.order) == .testerLower ? uid[0] & 0x3f : uid[0] | 0x80
            if uid.precedes(other) == ((order ?? self.order) == .testerLower) { return uid }
            uid =
                (order ?? self.order) == .testerLower
                ? [UInt8](repeating: 0, count: 8) + random.bytes(8)
                : [UInt8](repeating: 0xff, count: 8) + random.bytes(8)
        }
    }

    /// Exchanges connection data: the subject issues its own for the tester, and is asked to connect with the tester's.
    ///
    /// * `connects`: false leaves `connect` to the case.
    /// * `change`: makes the tester's data wrong, or otherwise different, before it is written.
    func introduce(
        _ session: SubjectSession, _ tester: Tester, connects: Bool = true,
        _ change: (inout ConnectionData) -> Void = { _ in }
    ) throws -> Pair {
        let theirs = try session.data(for: tester.endpoint.uid)
        let theirData = try ConnectionData(ofSubject: theirs)
        var data = tester.data(for: session.uid)
        change(&data)
        let mine = data.bytes
        var linkParameters = LinkParameters(
            mine: mine, myToken: data.token, theirs: theirs, theirData: theirData, me: tester.endpoint,
            limits: tester.limits, members: tester.members)
        if let outside = session.outside { linkParameters.theirData.prefer(outside.address) }
        if connects { try session.connect(mine) }
        let pair = Pair(session, tester, linkParameters)
        pairs.append(pair)
        return pair
    }

    /// Creates a session, a tester and their data in one step.
    func pair(
        _ settings: SubjectSession.Settings = .init(), tester preference: Preference? = nil,
        connects: Bool = true, _ change: (inout ConnectionData) -> Void = { _ in },
        prepare: (Tester) -> Void = { _ in }
    ) throws -> Pair {
        let session = try session(settings)
        let tester = try tester(beside: session, preference: preference ?? settings.preference)
        prepare(tester)
        return try introduce(session, tester, connects: connects, change)
    }

    /// Creates a session, a tester and a link between them that the subject has reported.
    func linked(
        _ settings: SubjectSession.Settings = .init(), tester preference: Preference? = nil,
        prepare: (Tester) -> Void = { _ in }
    ) throws -> (Pair, TesterLink) {
        let pair = try pair(settings, tester: preference, prepare: prepare)
        return (pair, try pair.link())
    }
}
