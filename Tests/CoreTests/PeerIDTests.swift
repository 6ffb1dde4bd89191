import Foundation
import MultipeerCore
import TestSupport
import Testing

@Suite("3.1 Peer ids", .computing)
struct PeerIDTests {
    private let uid = UID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)

    @Test("a name has 1 to 63 bytes of UTF-8 [peer.name]", arguments: ["a", "é", "日本"])
    func length(_ piece: String) throws {
        let size = piece.utf8.count
        let longest = String(repeating: piece, count: 63 / size) + String(repeating: "x", count: 63 % size)
        #expect(try PeerID(validating: uid, displayName: longest).displayName == longest)
        #expect(throws: InvalidPeerID.displayName) { try PeerID(validating: uid, displayName: longest + "x") }
        #expect(throws: InvalidPeerID.displayName) { try PeerID(validating: uid, displayName: "") }
    }

    @Test("a name has no control character, and none that reverses text [peer.name]")
    func controls() {
        let refused: [ClosedRange<UInt32>] = [0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069]
        for value in refused.joined() {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(throws: InvalidPeerID.displayName, "U+\(String(value, radix: 16))") {
                try PeerID(validating: uid, displayName: "a\(scalar)b")
            }
        }
        for value: UInt32 in [0x20, 0x7E, 0xA0, 0x2029 + 0x11, 0x2065, 0x206A] {
            guard let scalar = Unicode.Scalar(value) else { continue }
            #expect(throws: Never.self, "U+\(String(value, radix: 16))") {
                try PeerID(validating: uid, displayName: "a\(scalar)b")
            }
        }
    }

    @Test("bytes that are not UTF-8 are not a name [peer.name]")
    func encoding() {
        for name: [UInt8] in [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], []] {
            #expect(throws: InvalidPeerID.displayName) { try PeerID(parsing: uid.bytes + name) }
        }
        #expect(throws: InvalidPeerID.length) { try PeerID(parsing: Array(uid.bytes.dropLast())) }
    }

    @Test("two ids are equal if their bytes are, whatever the names say [peer.equal]")
    func equality() throws {
        let one = try PeerID(validating: uid, displayName: "Ann")
        let renamed = try PeerID(validating: uid, displayName: "Anna")
        let other = try PeerID(validating: UID(high: uid.high, low: uid.low ^ 1), displayName: "Ann")
        #expect(one == renamed && one != other)
        #expect(Set([one, renamed, other]).count == 2)
        #expect(one.hash == renamed.hash && one.hash != other.hash)
    }

    @Test("its hash is the same in every process [peer.equal]")
    func stableHash() throws {
        // 0x0011223344556677 ^ 0x8899AABBCCDDEEFF, by hand.
        let expected = Int(truncatingIfNeeded: 0x8888_8888_8888_8888 as UInt64)
        #expect(try PeerID(validating: uid, displayName: "Ann").hash == expected)
    }

    @Test("an id survives a round trip through its archive, with its name")
    func archive() throws {
        let peer = try PeerID(validating: uid, displayName: "Änne 日本")
        let bytes = try PeerID(parsing: peer.archived)
        #expect(bytes == peer && bytes.displayName == peer.displayName)

        let json = try JSONEncoder().encode(["peer": peer])
        #expect(
            String(decoding: json, as: UTF8.self) == #"{"peer":"00112233445566778899aabbccddeeff Änne 日本"}"#)
        let read = try JSONDecoder().decode([String: PeerID].self, from: json)["peer"]
        #expect(read == peer && read?.displayName == peer.displayName)
    }

    @Test(
        "bytes that are not an archived id are refused when they are read",
        arguments: [
            "", "00112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff ",
            "00112233445566778899aabbccddeef Ann", "00112233445566778899AABBCCDDEEFF Ann",
            "00112233445566778899aabbccddeeffAnn", "00112233445566778899aabbccddeeff\\u0000Ann",
            "00112233445566778899aabbccddeeff A\\u202en",
        ])
    func malformed(_ text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([PeerID].self, from: Data("[\"\(text)\"]".utf8))
        }
    }
}
