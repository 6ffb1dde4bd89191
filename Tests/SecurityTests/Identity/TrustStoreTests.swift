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

    private func entry(
        _ byte: UInt8, _ number: UInt64, named name: String? = nil, at time: Int64? = nil,
        verifiedBy means: PeerVerification.Means? = nil
    ) throws -> TrustStore.Entry {
        TrustStore.Entry(
            peer: UID(high: 0, low: number), fingerprint: try fingerprint(byte), name: name, at: time,
            verifiedBy: means)
    }

    @Test("a store survives a round trip, and equal stores have equal texts")
    func roundTrip() throws {
        var store = TrustStore()
        let names = ["ann", "a b", "-", "%41", "\u{1F600}\u{202E}x", "#", nil]
        let means: [PeerVerification.Means?] = [nil, .code, .id, .fingerprint]
        for number in 0..<100 {
            let isKept = store.remember(
                try entry(
                    UInt8(number), UInt64(number), named: names[number % 7], at: Int64(number) * 1_000_000,
                    verifiedBy: means[number % 4]))
            #expect(isKept)
        }
        #expect(store.count == 100)
        #expect(try TrustStore(parsing: store.text) == store)
        #expect(try TrustStore(parsing: store.text).text == store.text)
        #expect(try TrustStore(parsing: []).entries.isEmpty)
        #expect(try TrustStore(parsing: TrustStore().text) == TrustStore())
    }

    @Test("a line has the id, the key, two dates, how it was verified, and the name")
    func line() throws {
        var store = TrustStore()
        _ = store.remember(try entry(0xAB, 2, named: "ann b", at: 1_795_348_800, verifiedBy: .code))
        let key = try fingerprint(0xAB).description
        let line = String(decoding: store.text, as: UTF8.self).split(separator: "\n").last
        #expect(
            line.map(String.init)
                == "00000000000000000000000000000002 \(key) 2026-11-22 2026-11-22 code ann%20b")
    }

    @Test("that a peer was linked again is the last field; a line without it is read, too")
    func seenAgain() throws {
        var store = TrustStore()
        let first = try entry(0xAB, 2, named: "ann", at: 1_795_348_800)
        _ = store.remember(first)
        let before = store.text
        store.noteSeenAgain(first, at: 1_795_348_800 + 3 * 86_400 + 5)
        store.noteSeenAgain(first, at: 1_795_348_800 + 9 * 86_400)
        #expect(store.text == Array(before.dropLast()) + Array(" 2026-11-25\n".utf8))
        #expect(try TrustStore(parsing: store.text) == store)
        #expect(try TrustStore(parsing: before)[first.peer]?.seenAgain == nil)
        // Another key is another peer; the same key keeps what is known of it.
        store.noteSeenAgain(try entry(1, 2, named: "ann", at: 0), at: 0)
        _ = store.remember(try entry(0xAB, 2, named: "ann", at: 1_900_000_000))
        // A day, as in the file.
        #expect(store[first.peer]?.seenAgain == 1_795_564_800)
    }

    @Test("in a full store the oldest of the peers that were linked once, and never verified, makes room")
    func eviction() throws {
        let key = try fingerprint(1)
        // Of version 1, verified, linked again, and the rest of two days.
        let lines = (0..<10_000).map { number in
            let digits = String(number, radix: 16)
            let line = String(repeating: "0", count: 32 - digits.count) + digits + " \(key)"
            return switch number {
            case 0: line
            case 1: line + " 2020-01-01 2020-01-01 code ann"
            case 2: line + " 2020-01-01 - - ann 2020-01-02"
            case 9_000: line + " 2021-01-01 - - ann"
            default: line + " 2026-11-22 - - ann"
            }
        }
        var store = try TrustStore(parsing: Array(lines.joined(separator: "\n").utf8))
        for (number, gone) in [9_000, 3, 4].enumerated() {
            let isKept = store.remember(
                try entry(UInt8(2 + number), UInt64(1 << 40 + number), named: "bob", at: 1_900_000_000))
            #expect(isKept && store.count == 10_000)
            #expect(store[UID(high: 0, low: UInt64(gone))] == nil)
        }
        #expect((0...2).allSatisfy { store[UID(high: 0, low: $0)] != nil })
    }

    @Test("lines of version 1, comments, empty lines, spaces and other line ends are read")
    func leniency() throws {
        let key = try fingerprint(0xAB)
        let plain = String(repeating: "ab", count: 32)
        let store = try TrustStore(parsing: Array("# note\r\n\n  \(id.uppercased())\t\(plain) \r\n#x".utf8))
        let entry = try #require(store[UID(high: 1, low: 2)])
        #expect(entry.fingerprint == key && entry.name == nil && entry.firstSeen == nil)
        #expect(entry.verification == .knownKey(since: nil, verifiedBy: nil))
    }

    @Test("a key can be replaced and forgotten; a replaced one is not verified")
    func changes() throws {
        let peer = UID(high: 0, low: 2)
        var store = TrustStore()
        _ = store.remember(try entry(1, 2, named: "ann", at: 0, verifiedBy: .code))
        _ = store.remember(try entry(2, 2, named: "ann", at: 86_400))
        #expect(store[peer]?.fingerprint == (try fingerprint(2)) && store.count == 1)
        #expect(store[peer]?.verification == .knownKey(since: 86_400, verifiedBy: nil))
        store.forget(peer)
        #expect(store[peer] == nil)
    }

    @Test("what was known of a key is kept: when it was first seen, and that it was verified")
    func merging() throws {
        var store = TrustStore()
        _ = store.remember(try entry(1, 2, named: "ann", at: 0))
        _ = store.remember(try entry(1, 2, named: "ann", at: 864_000, verifiedBy: .code))
        // The same peer with another id has one entry.
        _ = store.remember(try entry(1, 3, named: "ann", at: 1_728_000))
        let kept = try #require(store.entries.first)
        #expect(store.count == 1 && kept.peer == UID(high: 0, low: 3))
        #expect(kept.firstSeen == 0 && kept.verifiedOn == 864_000 && kept.verifiedBy == .code)
        // A name of version 1 is not known, so its entry stays.
        _ = store.remember(try entry(4, 5))
        _ = store.remember(try entry(4, 6, named: "bob"))
        #expect(store.entries(of: try fingerprint(4)).count == 2)
    }

    @Test("a malformed line is an error with its number and the reason")
    func faults() throws {
        let key = try fingerprint(1).description
        let cases: [(String, SecurityFault.TrustStoreProblem)] = [
            (id, .fieldCount), ("\(id) \(key) x", .fieldCount), ("\(id.dropLast()) \(key)", .peerID),
            ("\(id.dropLast())g \(key)", .peerID), ("\(id) \(key.dropLast())", .fingerprint),
            ("\(id) \(key)\n\(id) \(key)", .duplicate), ("\u{0}", .fieldCount),
            ("\(id) \(key) 2026-11-22 - - ann - x", .fieldCount),
            ("\(id) \(key) 2026-11-22 - - ann x", .date), ("\(id) \(key) 2026-02-30 - - ann", .date),
            ("\(id) \(key) 26-2-3 - - ann", .date), ("\(id) \(key) - today - ann", .date),
            ("\(id) \(key) - 2026-11-22 - ann", .verification), ("\(id) \(key) - - code ann", .verification),
            ("\(id) \(key) - 2026-11-22 magic ann", .verification), ("\(id) \(key) - - - an%4", .name),
            ("\(id) \(key) - - - %ff", .name),
            ("\(id) \(key) - - - \(String(repeating: "n", count: 64))", .name),
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

    @Test("a store holds at most 10,000 peers, and its text stays below its limit")
    func bound() throws {
        let key = try fingerprint(1)
        let longest = String(repeating: " ", count: 63)
        let lines = (0..<10_000).map { number in
            let digits = String(number, radix: 16)
            let uid = String(repeating: "0", count: 32 - digits.count) + digits
            return "\(uid) \(key) 2026-11-22 2026-11-22 fingerprint \(String(repeating: "%20", count: 63))\n"
        }.joined()
        var full = try TrustStore(parsing: Array(lines.utf8))
        #expect(full.count == 10_000 && full.entries.first?.name == longest)
        #expect(full.text.count < 4_194_304)
        let before = full
        let isKept = full.remember(try entry(2, 1 << 40))
        #expect(!isKept && full == before)
        let isReplaced = full.remember(try entry(2, 0))
        #expect(isReplaced)
        let more = before.text + Array("\(id) \(key)\n".utf8)
        #expect(throws: SecurityFault.local(.malformedTrustStore(line: 10_002, .tooManyEntries))) {
            try TrustStore(parsing: more)
        }
        #expect(throws: SecurityFault.local(.malformedTrustStore(line: 0, .tooLarge))) {
            try TrustStore(parsing: [UInt8](repeating: 10, count: 5_000_000))
        }
    }
}
