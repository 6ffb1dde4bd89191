import MultipeerCore
import MultipeerSecurity
import TestSupport
import Testing

@Suite("5.4 Trust store", .computing)
struct TrustStoreTests {
    private func fingerprint(_ byte: UInt8) throws -> Fingerprint {
        try #require(Fingerprint([UInt8](repeating: byte, count: 32)))
    }

    private let id = "00000000000000010000000000000002"

    @Test("a store survives a round trip, and equal stores have equal texts")
    func roundTrip() throws {
        var store = TrustStore()
        for number in 0..<100 {
            let isKept = store.remember(try fingerprint(UInt8(number)), of: UID(high: UInt64(number), low: 7))
            #expect(isKept)
        }
        #expect(try TrustStore(parsing: store.text) == store)
        #expect(try TrustStore(parsing: store.text).text == store.text)
        #expect(try TrustStore(parsing: []).entries.isEmpty)
        #expect(try TrustStore(parsing: TrustStore().text) == TrustStore())
    }

    @Test("comments, empty lines, spaces and other line ends are read")
    func leniency() throws {
        let key = try fingerprint(0xAB)
        let plain = String(repeating: "ab", count: 32)
        let store = try TrustStore(parsing: Array("# note\r\n\n  \(id.uppercased())\t\(plain) \r\n#x".utf8))
        #expect(store[UID(high: 1, low: 2)] == key)
    }

    @Test("a key can be replaced and forgotten")
    func changes() throws {
        let peer = UID(high: 1, low: 2)
        var store = TrustStore()
        _ = store.remember(try fingerprint(1), of: peer)
        _ = store.remember(try fingerprint(2), of: peer)
        #expect(store[peer] == (try fingerprint(2)) && store.entries.count == 1)
        store.forget(peer)
        #expect(store[peer] == nil)
    }

    @Test("a malformed line is an error with its number and the reason")
    func faults() throws {
        let key = try fingerprint(1).description
        let cases: [(String, SecurityFault.TrustStoreProblem)] = [
            (id, .fieldCount), ("\(id) \(key) x", .fieldCount), ("\(id.dropLast()) \(key)", .peerID),
            ("\(id.dropLast())g \(key)", .peerID), ("\(id) \(key.dropLast())", .fingerprint),
            ("\(id) \(key)\n\(id) \(key)", .duplicate), ("\u{0}", .fieldCount),
        ]
        for (text, problem) in cases {
            let line = problem == .duplicate ? 3 : 2
            #expect(throws: SecurityFault.local(.malformedTrustStore(line: line, problem))) {
                try TrustStore(parsing: Array("# title\n\(text)\n".utf8))
            }
        }
        #expect(throws: SecurityFault.local(.malformedTrustStore(line: 1, .fieldCount))) {
            try TrustStore(parsing: [0xFF, 0xFE])
        }
    }

    @Test("a store holds at most 10,000 peers")
    func bound() throws {
        let key = try fingerprint(1)
        var store = TrustStore()
        for number in 0..<10_000 { _ = store.remember(key, of: UID(high: 0, low: UInt64(number))) }
        #expect(store.entries.count == 10_000)
        var full = store
        let isKept = full.remember(key, of: UID(high: 1, low: 0))
        #expect(!isKept && full == store)
        let isReplaced = try full.remember(fingerprint(2), of: UID(high: 0, low: 0))
        #expect(isReplaced)
        let more = store.text + Array("\(id) \(key)\n".utf8)
        #expect(throws: SecurityFault.local(.malformedTrustStore(line: 10_002, .tooManyEntries))) {
            try TrustStore(parsing: more)
        }
        #expect(throws: SecurityFault.local(.malformedTrustStore(line: 0, .tooLarge))) {
            try TrustStore(parsing: [UInt8](repeating: 10, count: 5_000_000))
        }
    }
}
