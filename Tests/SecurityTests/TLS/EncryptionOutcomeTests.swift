import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.1 Encryption outcome", .computing)
struct EncryptionOutcomeTests {
    struct Side: Hashable, Sendable, CustomTestStringConvertible {
        let preference: EncryptionPreference
        let identity: Bool
        var testDescription: String { "\(preference)\(identity ? " with identity" : "")" }
    }

    static let sides = EncryptionPreference.allCases.flatMap { preference in
        [false, true].map { Side(preference: preference, identity: $0) }
    }

    /// The table of the specification, a row a line; columns none, optional, required.
    static let table: [EncryptionPreference: [EncryptionPreference: EncryptionPreference.Outcome]] = [
        .none: [.none: .plain, .optional: .plain, .required: .refused],
        .optional: [.none: .plain, .optional: .encrypted, .required: .encrypted],
        .required: [.none: .refused, .optional: .encrypted, .required: .encrypted],
    ]

    @Test(
        "all 36 pairs follow the table, where an identity counts as required [enc.outcome] [enc.identity]",
        arguments: sides, sides)
    func cells(_ one: Side, _ other: Side) throws {
        func effective(_ side: Side) -> EncryptionPreference {
            side.identity && side.preference == .optional ? .required : side.preference
        }
        let expected = try #require(Self.table[effective(one)]?[effective(other)])
        let outcome = EncryptionPreference.Outcome.between(
            one.preference, identity: one.identity, and: other.preference, identity: other.identity)
        #expect(outcome == expected)
        let mirrored = EncryptionPreference.Outcome.between(
            other.preference, identity: other.identity, and: one.preference, identity: one.identity)
        #expect(mirrored == outcome)
    }

    @Test("required never leads to plain, whatever the peer's preference [enc.required]", arguments: sides)
    func required(_ other: Side) {
        for identity in [false, true] {
            let outcome = EncryptionPreference.Outcome.between(
                .required, identity: identity, and: other.preference, identity: other.identity)
            #expect(outcome != .plain)
        }
    }

    @Test("preferences survive a round trip through their texts, and other texts are refused")
    func names() {
        for preference in EncryptionPreference.allCases {
            #expect(EncryptionPreference(name: preference.description) == preference)
        }
        #expect(EncryptionPreference(name: "Required") == nil)
        #expect(EncryptionPreference(rawValue: 3) == nil)
    }
}
