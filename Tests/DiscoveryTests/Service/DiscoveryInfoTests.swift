import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.2 Discovery info", .computing)
struct DiscoveryInfoTests {
    private static let key64 = String(repeating: "k", count: 64)

    /// Four entries of 256 bytes, and a shorter one.
    private static func long(_ count: Int) -> [String: String] {
        let full = Dictionary(
            uniqueKeysWithValues: "klmo".map { (String($0), String(repeating: "v", count: 253)) })
        return full.merging(["p": String(repeating: "v", count: count - 1)]) { one, _ in one }
    }

    @Test(
        "valid keys and values are accepted [service.info]",
        arguments: [
            [:], ["level": "3"], ["a key with spaces!": "ÄÖÜ 🐟"], [key64: ""],
            ["k": String(repeating: "v", count: 253)],
            DiscoveryInfoTests.long(196),
        ])
    func good(_ entries: [String: String]) throws {
        #expect(try DiscoveryInfo(validating: entries).entries == entries)
    }

    @Test(
        "anything else is refused, with the reason [service.info]",
        arguments: [
            (["": "x"], .key("")), ([key64 + "k": "x"], .key(key64 + "k")), (["a=b": "x"], .key("a=b")),
            (["ä": "x"], .key("ä")), (["a\n": "x"], .key("a\n")), (["MPC": "2"], .reservedKey("MPC")),
            (["n": "Ann"], .reservedKey("n")), (["c": "7"], .reservedKey("c")),
            (["N": "Ann"], .reservedKey("N")),
            (["Key": "1", "key": "2"], .repeatedKey("Key", "key")),
            (["k": String(repeating: "v", count: 254)], .entryLength(key: "k", 256)),
            (
                DiscoveryInfoTests.long(197),
                .length(1_223)
            ),
        ] as [([String: String], InvalidDiscoveryInfo)])
    func bad(_ entries: [String: String], _ fault: InvalidDiscoveryInfo) {
        #expect(throws: fault) { try DiscoveryInfo(validating: entries) }
        #expect(!fault.description.isEmpty)
    }

    @Test("missing info is empty info")
    func empty() throws { #expect(try DiscoveryInfo(validating: [:]) == .empty) }
}
