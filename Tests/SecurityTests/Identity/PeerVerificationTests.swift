import MultipeerSecurity
import TestSupport
import Testing

@Suite("18.5 Who is at the other end", .computing)
struct PeerVerificationTests {
    @Test("the same words are used everywhere, and only what was verified is called verified")
    func words() {
        let noon: Int64 = 1_795_348_800
        let cases: [(PeerVerification, String, Bool)] = [
            (.unverified(.network), "unverified: found on the network", false),
            (.unverified(.connectionData), "unverified: connection data carried by hand", false),
            (.unverified(.member), "unverified: introduced by another member", false),
            (.unverified(.plain), "unverified: not encrypted", false),
            (.knownKey(since: nil, verifiedBy: nil), "key known, never verified", false),
            (.knownKey(since: noon, verifiedBy: nil), "key known since 2026-11-22, never verified", false),
            (.knownKey(since: noon, verifiedBy: .code), "key known since 2026-11-22, verified by code", true),
            (.certified(subject: "CN=ann", namesPeer: true), "certified by CA: CN=ann", true),
            (
                .certified(subject: "CN=mallory", namesPeer: false),
                "certified by CA: CN=mallory, which does not name the peer", false
            ),
            (.verified(by: .code), "verified by code", true),
            (.verified(by: .id), "verified by its id", true),
            (.verified(by: .fingerprint), "verified by its fingerprint", true),
        ]
        for (verification, words, isVerified) in cases {
            #expect(verification.description == words)
            #expect(verification.isVerified == isVerified)
        }
    }

    @Test("the stronger of two counts, in either order")
    func strength() {
        let weak = PeerVerification.knownKey(since: 0, verifiedBy: nil)
        let strong = PeerVerification.verified(by: .code)
        #expect(weak.strengthened(by: strong) == strong && strong.strengthened(by: weak) == strong)
        #expect(weak.strengthened(by: nil) == weak)
    }

    @Test(
        "a date is the day in UTC",
        arguments: [
            (0, "1970-01-01"), (-1, "1969-12-31"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"), (4_107_542_400, "2100-03-01"), (1_795_391_999, "2026-11-22"),
            (1_795_392_000, "2026-11-23"), (Int64.max, "9999-12-31"), (Int64.min, "0000-01-01"),
        ])
    func date(_ seconds: Int64, _ text: String) {
        #expect(CalendarDate(secondsSince1970: seconds).description == text)
    }
}
