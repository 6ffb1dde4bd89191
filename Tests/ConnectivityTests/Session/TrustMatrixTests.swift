import Foundation
@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Which peer asks for trust", .inTurns)
struct TrustMatrixTests {
    /// What an application does with a certificate handler.
    enum Behaviour: String, CaseIterable {
        case accepts, rejects
        /// Long after the delegate's method has returned, from a thread of its own.
        case answersLate
        case acceptsThenRejects, rejectsThenAccepts
        case neverAnswers

        var leadsToLink: Bool {
            switch self {
            case .accepts, .answersLate, .acceptsThenRejects: true
            case .rejects, .rejectsThenAccepts, .neverAnswers: false
            }
        }

        func answer(_ handler: @escaping @Sendable (Bool) -> Void) {
            switch self {
            case .accepts: handler(true)
            case .rejects: handler(false)
            case .answersLate:
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.1)
                    handler(true)
                }
            case .acceptsThenRejects:
                handler(true)
                handler(false)
            case .rejectsThenAccepts:
                handler(false)
                Thread.detachNewThread { handler(true) }
            case .neverAnswers: break
            }
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let encryption: MCEncryptionPreference
        let hasIdentities: Bool
        let behaviour: Behaviour

        static let all = [MCEncryptionPreference.required, .optional, .none].flatMap { encryption in
            [false, true].flatMap { identities in
                Behaviour.allCases.map {
                    Case(encryption: encryption, hasIdentities: identities, behaviour: $0)
                }
            }
        }

        var testDescription: String {
            let settings = [
                MCEncryptionPreference.optional: "optional", .required: "required", .none: "none",
            ]
            let identities = hasIdentities ? "with identities" : "without identities"
            return "\(settings[encryption] ?? ""), \(identities), \(behaviour)"
        }
    }

    @Test(
        "with every setting the handler is called once where it applies, and the first answer counts",
        arguments: Case.all)
    func matrix(_ row: Case) async throws {
        guard row.behaviour == .neverAnswers else {
            return #expect(try await wasAsked(row, timeLimit: .seconds(30)))
        }
        // On a busy machine the time may be over before anybody was asked.
        for timeLimit in [2, 8, 30] where try await wasAsked(row, timeLimit: .seconds(timeLimit)) { return }
        Issue.record("bob was never asked")
    }

    private func wasAsked(_ row: Case, timeLimit: Duration) async throws -> Bool {
        let identities = try (0..<2).map { _ in
            row.hasIdentities ? [try MCIdentity.generate(commonName: "a device")] : nil
        }
        let network = InMemoryDiscovery()
        func handset(_ name: String, _ identity: [MCIdentity]?) -> TestApplication {
            TestApplication(name, on: network, encryption: row.encryption, identity: identity) {
                $0.connectTimeout = timeLimit
                if row.behaviour == .neverAnswers { $0.overrides.decision = .seconds(1) }
            }
        }
        let (ann, bob) = (handset("ann", identities[0]), handset("bob", identities[1]))
        for handset in [ann, bob] { handset.keepQuiet() }
        (ann.partner, bob.partner) = (bob, ann)
        bob.judge { row.behaviour.answer($0) }
        ann.connect()
        if row.behaviour.leadsToLink {
            try await talk(ann, bob)
            try await talk(bob, ann)
            #expect(ann.states(of: bob.peer).filter { $0 != .connecting } == [.connected])
        } else {
            for (one, other) in [(ann, bob), (bob, ann)] {
                try await inTime { await one.until { $0.states(of: other.peer).last == .notConnected } }
                #expect(!one.states(of: other.peer).contains(.connected))
                #expect(one.session?.connectedPeers == [])
            }
        }
        guard !bob.shown.isEmpty else { return false }
        // Without encryption no peer shows a certificate.
        let shows = row.hasIdentities && row.encryption != .none
        #expect(bob.shown == [shows ? certificates(identities[0]) : nil])
        if row.behaviour.leadsToLink {
            #expect(ann.shown == [shows ? certificates(identities[1]) : nil])
        } else {
            try await again(ann, bob)
        }
        return true
    }

    /// What came to nothing spoils nothing: the same sessions connect when the answer is another.
    private func again(_ ann: TestApplication, _ bob: TestApplication) async throws {
        bob.judge { $0(true) }
        try await atLast {
            if ann.isConnected(to: bob.peer) { return true }
            if ann.states(of: bob.peer).last == .notConnected, bob.states(of: ann.peer).last == .notConnected
            {
                ann.connect()
                try? await Task.sleep(for: .milliseconds(100))
            }
            return false
        }
        try await talk(ann, bob)
    }

    private func talk(_ one: TestApplication, _ other: TestApplication) async throws {
        try await inTime { await one.until { $0.isConnected(to: other.peer) } }
        try one.session?.send(Data("trusted".utf8), toPeers: [other.peer], with: .reliable)
        try await inTime { await other.until { $0.messages.contains(Data("trusted".utf8)) } }
    }

    private func certificates(_ identity: [MCIdentity]?) -> [MCCertificate]? {
        identity?.first.map { $0.native.chain.map { MCCertificate($0) } }
    }
}
