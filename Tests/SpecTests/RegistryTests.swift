import Foundation
import MultipeerCore
import MultipeerDiscovery
import MultipeerHandshake
import TestSupport
import Testing

@Suite("15 Registries", .computing)
struct RegistryTests {
    private let registries: Registries

    init() throws {
        registries = try JSONDecoder().decode(
            Registries.self, from: try Repository.data("Spec/registries.json"))
    }

    @Test("every frame kind has its number in the registry, and no other exists")
    func frameKinds() throws {
        let kinds = try constants(
            of: "FrameKind(rawValue:", in: "Sources/MultipeerFraming/Frames/FrameKind.swift")
        #expect(kinds == numbers(registries.frames))
    }

    @Test("every code has its number in the registry, and no other exists")
    func codes() throws {
        let codes = try constants(
            of: "CloseCode(rawValue:", in: "Sources/MultipeerFraming/Frames/CloseCode.swift")
        #expect(codes == numbers(registries.codes))
    }

    @Test("every limit in the code is in the registry, with the same value")
    func limits() throws {
        let limits = try constants(of: "", in: "Sources/MultipeerFraming/Limits.swift")
        let registered = Dictionary(
            registries.limits.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        #expect(!limits.isEmpty)
        for (name, value) in limits {
            #expect(registered[name] == value, "Limits.\(name)")
        }
    }

    @Test("a timer in the code has its duration in the registry", arguments: timerConstants)
    func timers(_ name: String, _ duration: Duration) throws {
        let timer = try #require(registries.timers.first { $0.name == name })
        #expect(Duration.milliseconds(timer.milliseconds) == duration)
    }

    @Test("a limit of discovery or invitations has its value in the registry", arguments: limitConstants)
    func meetings(_ name: String, _ value: Int) throws {
        let limit = try #require(registries.limits.first { $0.name == name })
        #expect(limit.value == value)
    }

    @Test(
        "a limit that is written in the code has its value in the registry",
        arguments: RegistryPlace.limits)
    func limitPlaces(_ place: RegistryPlace) throws {
        let limit = try #require(registries.limits.first { $0.name == place.name })
        #expect(try place.value() == limit.value)
    }

    @Test("a time that is written in the code has its value in the registry", arguments: RegistryPlace.timers)
    func timerPlaces(_ place: RegistryPlace) throws {
        let timer = try #require(registries.timers.first { $0.name == place.name })
        #expect(try place.value() == timer.milliseconds)
    }

    @Test("every limit and every timer of the registry is checked")
    func complete() throws {
        let elsewhere = Set(RegistryPlace.elsewhere.keys)
        let limits = Set(registries.limits.map(\.name)).subtracting(elsewhere)
        let wire = try constants(of: "", in: "Sources/MultipeerFraming/Limits.swift").keys
        let checked = limitConstants.map(\.0) + RegistryPlace.limits.map(\.name) + wire
        #expect(limits.subtracting(checked).sorted() == [])
        let timers = Set(registries.timers.map(\.name)).subtracting(elsewhere)
        let timed = timerConstants.map(\.0) + RegistryPlace.timers.map(\.name)
        #expect(timers.subtracting(timed).sorted() == [])
        let links = try #require(registries.limits.first { $0.name == "links" })
        #expect(links.value + 1 == registries.limits.first { $0.name == "peers" }?.value)
    }

    @Test("the numbers of public pages are those of the code", arguments: DocumentedFigures.all)
    func documented(_ figures: DocumentedFigures) throws {
        let sentence = try #require(try self.sentence(figures), "\(figures.text)")
        #expect(try DocumentedFigures.comments(of: figures.file).contains(sentence))
    }

    @Test("every limit that the page of a session lists is checked")
    func documentedLimits() throws {
        let path = "MultipeerTransport/Session/Session.swift"
        let known = try DocumentedFigures.all.compactMap { try sentence($0) }
        let listed = try Repository.file("Sources/\(path)").lines.filter { $0.hasPrefix("/// - ") }
            .map { $0.dropFirst(4) }
        #expect(listed.count >= 10)
        for line in listed {
            #expect(known.contains { $0.hasPrefix(line) || line.hasPrefix($0) }, "\(line)")
        }
    }

    private func sentence(_ figures: DocumentedFigures) throws -> String? {
        let limits = registries.limits.map { ($0.name, $0.value) }
        let timers = registries.timers.map { ($0.name, $0.milliseconds) }
        return try figures.sentence(
            Dictionary(limits, uniquingKeysWith: { first, _ in first }),
            Dictionary(timers, uniquingKeysWith: { first, _ in first }))
    }

    @Test("every label that the registry names is defined in the spec")
    func labels() throws {
        let defined = try Labels.ofRepository().defined
        let named = registries.limits.compactMap(\.label) + registries.timers.compactMap(\.label)
        #expect(Set(named).subtracting(defined.keys).sorted() == [])
    }

    @Test(
        "Swift numbers are read in every notation",
        arguments: [("2_048", 2_048), ("0x2A", 42), ("16 * 1_048_576", 16_777_216)])
    func literal(_ text: String, _ value: Int) {
        #expect(number(text[...]) == value)
    }

    private func numbers(_ entries: [Registries.Constant]) -> [String: Int] {
        Dictionary(entries.map { ($0.constant, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

private let limitConstants: [(String, Int)] = [
    ("dnsMessage", DNSMessage.longest), ("dnsRecords", DNSMessage.mostRecords),
    ("instanceLabel", DNSName.longestLabel), ("interests", MulticastDNS.mostOrders),
    ("invitations", InvitationLimits.pending),
    ("invitationsPerAddress", InvitationLimits.pendingPerAddress),
    ("invitationsPerPeer", InvitationLimits.pendingPerPeer),
    ("refusals", InvitationLimits.refusals),
    ("unauthenticated", UnauthenticatedConnections.limit),
    ("unauthenticatedExpected", UnauthenticatedConnections.expectedLimit),
    ("unauthenticatedPerAddress", UnauthenticatedConnections.limitPerAddress),
    ("unprovenInviters", UnauthenticatedConnections.limit),
    ("unprovenInvitersPerAddress", UnauthenticatedConnections.limitPerAddress),
]

private let timerConstants: [(String, Duration)] = [
    ("attempt", HandshakeTiming.attempt), ("hello", HandshakeTiming.greeting),
    ("unproven", HandshakeTiming.unproven),
    ("confirm", HandshakeTiming.decision),
    ("trust", HandshakeTiming.decision), ("select", HandshakeTiming.selection),
    ("higherDelay", HandshakeTiming.higherDialDelay),
    ("staleAge", HandshakeTiming.linkSettles), ("staleProbe", HandshakeTiming.probe),
    ("clockGap", Suspension.clockGap), ("resumeGrace", Suspension.resumeGrace),
    ("meshData", HandshakeTiming.lifetime),
    ("meshRenewal", HandshakeTiming.meshRenewal), ("code", VerificationCode.timeout),
    ("invitationOpening", InvitationTiming.greeting), ("invitationOpening", InvitationTiming.completion),
    ("unauthenticatedAge", UnauthenticatedConnections.youth), ("undisturbed", InvitationTiming.undisturbed),
    ("quietFirst", InvitationTiming.firstQuiet), ("quietLast", InvitationTiming.longestQuiet),
    ("refusalMemory", InvitationTiming.refusalMemory),
    ("invitationLongest", .seconds(Int64(InvitationTiming.timeouts.upperBound))),
]

/// The parts of `Spec/registries.json` that the code has constants for.
private struct Registries: Decodable {
    struct Constant: Decodable {
        let value: Int
        /// Its name in Swift.
        let constant: String
    }

    struct Limit: Decodable {
        let name: String
        let value: Int
        let label: String?
    }

    struct Timer: Decodable {
        let name: String
        let milliseconds: Int
        let label: String?
    }

    let frames: [Constant]
    let codes: [Constant]
    let limits: [Limit]
    let timers: [Timer]
}

/// The static constants that a file defines as `static let name = wrapper(number)` or `static var name: T { … }`.
/// Reading the file finds them all; a list written here would miss the one that was forgotten.
private func constants(of wrapper: String, in path: String) throws -> [String: Int] {
    var found: [String: Int] = [:]
    for line in try Repository.file(path).lines {
        let code = line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let definition = /static (?:let|var) `?(\w+)`?(?:: \w+)? [={] (.*?) ?\}? *$/
        guard let match = code.firstMatch(of: definition) else { continue }
        var value = match.2
        if !wrapper.isEmpty {
            guard value.hasPrefix(wrapper), value.hasSuffix(")") else { continue }
            value = value.dropFirst(wrapper.count).dropLast()
        }
        let parsed: Int = try #require(number(value), "\(path): \(line)")
        found[String(match.1)] = parsed
    }
    return found
}

/// The value of a product of integer literals.
private func number(_ text: Substring) -> Int? {
    var product = 1
    for factor in text.split(separator: "*") {
        let digits = factor.trimmingCharacters(in: .whitespaces).replacing("_", with: "")
        let value = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits)
        guard let value else { return nil }
        product *= value
    }
    return product
}
