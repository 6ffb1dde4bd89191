import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.2 Discovery info", .computing)
struct DiscoveryInfoTests {
    private static let key64 = String(repeating: "k", count: 64)

    @Test(
        "valid keys and values are accepted [service.info]",
        arguments: [
            [:], ["level": "3"], ["a key with spaces!": "ÄÖÜ 🐟"], [key64: ""],
            ["k": String(repeating: "v", count: 253)],
            ["k": String(repeating: "v", count: 253), "l": String(repeating: "v", count: 141)],
        ])
    func good(_ entries: [String: String]) throws {
        #expect(try DiscoveryInfo(validating: entries).entries == entries)
    }

    @Test(
        "anything else is refused, with the reason [service.info]",
        arguments: [
            (["": "x"], .key("")), ([key64 + "k": "x"], .key(key64 + "k")), (["a=b": "x"], .key("a=b")),
            (["ä": "x"], .key("ä")), (["a\n": "x"], .key("a\n")), (["MPC": "2"], .reservedKey("MPC")),
            (["n": "Ann"], .reservedKey("n")), (["N": "Ann"], .reservedKey("N")),
            (["Key": "1", "key": "2"], .repeatedKey("Key", "key")),
            (["k": String(repeating: "v", count: 254)], .entryLength(key: "k", 256)),
            (
                ["k": String(repeating: "v", count: 253), "l": String(repeating: "v", count: 142)],
                .length(401)
            ),
        ] as [([String: String], InvalidDiscoveryInfo)])
    func bad(_ entries: [String: String], _ fault: InvalidDiscoveryInfo) {
        #expect(throws: fault) { try DiscoveryInfo(validating: entries) }
        #expect(!fault.description.isEmpty)
    }

    @Test("missing info is empty info")
    func empty() throws { #expect(try DiscoveryInfo(validating: [:]) == .empty) }
}
