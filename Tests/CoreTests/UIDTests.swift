import Foundation
import MultipeerCore
import TestSupport
import Testing

@Suite("3.1 Forms of uids", .computing)
struct UIDTests {
    private let ones = [UInt8](repeating: 0xFF, count: 32)
    private let zeros = [UInt8](repeating: 0, count: 32)

    @Test("a keyed uid is a UUID of version 8 with 122 bits of the hash [uid.keyed]")
    func keyed() throws {
        #expect(try #require(UID.keyed(ones)).description == "ffffffffffff8fffbfffffffffffffff")
        #expect(try #require(UID.keyed(zeros)).description == "00000000000080008000000000000000")
        #expect(UID.keyed(Array(ones.prefix(15))) == nil)
        #expect(UID.keyed(ones)?.isKeyed == true && UID.keyed(zeros)?.isKeyed == true)
    }

    @Test("a random uid is a UUID of version 4, and is not keyed [peer.uid-random]")
    func random() {
        let uids = [UID(random: .max, .max), UID(random: 0, 0)]
        #expect(
            uids.map(\.description) == [
                "ffffffffffff4fffbfffffffffffffff", "00000000000040008000000000000000",
            ])
        #expect(uids.allSatisfy { !$0.isKeyed && $0.asRandom == $0 })
    }

    @Test("every other form counts as random [uid.keyed]", arguments: 0..<16)
    func others(_ version: UInt64) {
        for variant: UInt64 in 0..<4 {
            let uid = UID(high: version << 12, low: variant << 62)
            #expect(uid.isKeyed == (version == 8 && variant == 2))
            #expect(!uid.asRandom.isKeyed)
        }
    }

    @Test("a keyed id survives a round trip through its archive, and an archive without its mark is random")
    func archive() throws {
        let peer = try PeerID(validating: #require(UID.keyed(ones)), displayName: "Änne")
        let read = try PeerID(parsing: peer.archived)
        #expect(read == peer && read.displayName == peer.displayName)
        let json = try JSONEncoder().encode([peer])
        #expect(String(decoding: json, as: UTF8.self) == #"["ffffffffffff8fffbfffffffffffffff# Änne"]"#)
        #expect(try JSONDecoder().decode([PeerID].self, from: json) == [peer])

        // One in 64 of the random uids that were archived before there were keyed ones looks like this.
        let old = try PeerID(parsing: peer.uid.bytes + Array("Änne".utf8))
        #expect(old.uid == UID(random: .max, .max) && old.displayName == "Änne")
        #expect(try PeerID(parsing: old.archived) == old)
        let text = Data(#"["ffffffffffff8fffbfffffffffffffff Änne"]"#.utf8)
        #expect(try JSONDecoder().decode([PeerID].self, from: text) == [old])
        #expect(throws: InvalidPeerID.displayName) {
            try PeerID(parsing: UID(random: 1, 2).bytes + [0] + Array("Änne".utf8))
        }
    }
}

extension UID {
    fileprivate var description: String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
