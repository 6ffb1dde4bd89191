import Multipeer
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("5 Encryption, on the wire", .inTurns)
struct PreferenceTests {
    struct Side: Sendable, CustomTestStringConvertible {
        let preference: EncryptionPreference
        let hasIdentity: Bool

        var testDescription: String { hasIdentity ? "\(preference) with identity" : "\(preference)" }
        /// An identity turns optional into required. [enc.identity]
        var effective: EncryptionPreference {
            hasIdentity && preference == .optional ? .required : preference
        }

        func configuration(_ tap: Tap) throws -> Session.Configuration {
            let identity = hasIdentity ? try Identity.generate() : nil
            return Session.Configuration.loopback(preference, identity: identity).tapped(by: tap)
        }
    }

    static let sides = EncryptionPreference.allCases.flatMap { preference in
        [false, true].map { Side(preference: preference, hasIdentity: $0) }
    }
    static let canary = Array("the quick brown canary".utf8)

    /// Written from the table of spec 5.1, not from the code.
    static func expected(_ one: EncryptionPreference, _ other: EncryptionPreference)
        -> EncryptionPreference.Outcome
    {
        switch (one, other) {
        case (.none, .required), (.required, .none): .refused
        case (.none, _), (_, .none): .plain
        default: .encrypted
        }
    }

    @Test(
        "the outcome of two preferences is what is sent [enc.outcome] [enc.identity] [enc.no-negotiation] [plain.preface]",
        arguments: sides, sides)
    func cell(_ one: Side, _ other: Side) async throws {
        let (annsTap, bobsTap) = (try await Tap(), try await Tap())
        let meeting = try Meeting(ann: one.configuration(annsTap), bob: other.configuration(bobsTap))
        let outcome = Self.expected(one.effective, other.effective)
        let fared = try await meeting.attempt()
        if outcome == .refused {
            #expect(fared.ann.error?.reason?.code == .policy)
            #expect(fared.bob.error?.reason?.code == .policy)
            #expect(await annsTap.flows.isEmpty)
            #expect(await bobsTap.flows.isEmpty)
        } else {
            #expect(fared.ann.isLinked && fared.bob.isLinked)
            try await exchange(meeting)
            let flows = await annsTap.flows + bobsTap.flows
            #expect(flows.contains { !$0.fromDialler.isEmpty && !$0.fromListener.isEmpty })
            for flow in flows { check(flow, outcome) }
            let plainCanaries = flows.flatMap(\.all).count { $0.contains(Self.canary) }
            #expect(plainCanaries == (outcome == .plain ? 2 : 0))
            #expect(
                await meeting.ann.connectionInfo(for: meeting.bob.peer)?.isEncrypted
                    == (outcome == .encrypted))
            #expect(
                await meeting.bob.connectionInfo(for: meeting.ann.peer)?.isEncrypted
                    == (outcome == .encrypted))
        }
        await meeting.end()
        await annsTap.stop()
        await bobsTap.stop()
    }

    private func exchange(_ meeting: Meeting) async throws {
        try await within {
            try await meeting.ann.send(Self.canary, to: meeting.bob.peer)
            try await meeting.bob.send(Self.canary, to: meeting.ann.peer)
            #expect(await meeting.bob.events.firstMessage() == Self.canary)
            #expect(await meeting.ann.events.firstMessage() == Self.canary)
        }
    }

    private func check(_ flow: Tap.Flow, _ outcome: EncryptionPreference.Outcome) {
        if outcome == .plain {
            for bytes in flow.all { #expect(bytes.isEmpty || bytes.starts(with: Array("MPCPLAIN".utf8))) }
            return
        }
        // A handshake record, then versions below 1.3 in the places where TLS 1.3 keeps up appearances.
        #expect(flow.fromDialler.isEmpty || flow.fromDialler.starts(with: [0x16, 0x03, 0x01]))
        #expect(flow.fromListener.isEmpty || flow.fromListener.starts(with: [0x16, 0x03, 0x03]))
        // The extension supported_versions of ServerHello: TLS 1.3.
        #expect(
            flow.fromListener.isEmpty || flow.fromListener.contains([0x00, 0x2B, 0x00, 0x02, 0x03, 0x04]))
        for bytes in flow.all { #expect(!bytes.contains(Array("MPCPLAIN".utf8))) }
    }
}

extension [UInt8] {
    func contains(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty, count >= part.count else { return part.isEmpty }
        return indices.dropLast(part.count - 1).contains {
            self[$0] == part[0] && self[$0..<($0 + part.count)].elementsEqual(part)
        }
    }
}
