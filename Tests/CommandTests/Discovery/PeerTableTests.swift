import Foundation
import Multipeer
import MultipeerCLI
import MultipeerCommandLine
import TestSupport
import Testing

@Suite("Command: the table of peers", .computing)
struct PeerTableTests {
    private func peer(
        _ name: String, _ number: UInt64, _ info: [String: String] = [:]
    ) throws -> DiscoveredPeer {
        DiscoveredPeer(
            peer: try PeerID(uid: UID(high: number << 32, low: 1), displayName: name), info: info)
    }

    @Test("the table has names, ids, times and info, ordered by name, and escapes what is not text")
    func table() throws {
        var table = PeerTable()
        table.add(try peer("bob", 0x1f2e_3d4c, ["os": "a\tb", "room": "x"]), at: .seconds(1))
        table.add(try peer("ann 日本", 0xabcd_ef01), at: .seconds(61))
        #expect(
            table.lines(at: .seconds(62), width: 80, height: 10) == [
                "NAME      ID        KIND    FOR   INFO", "ann 日本  abcdef01  random  0:01",
                "bob       1f2e3d4c  random  1:01  os=a\\u{9}b room=x",
            ])
        table.resolve(try peer("bob", 0x1f2e_3d4c).peer, [try #require(SocketAddress("127.0.0.1:4000"))])
        table.remove(try peer("ann 日本", 0xabcd_ef01).peer)
        #expect(
            table.lines(at: .seconds(62), width: 80, height: 10).last
                == "bob   1f2e3d4c  random  1:01  os=a\\u{9}b room=x 127.0.0.1:4000")
    }

    @Test("a peer that changes keeps its place and its time")
    func update() throws {
        var table = PeerTable()
        table.add(try peer("bob", 1), at: .zero)
        table.add(try peer("bob", 1, ["a": "b"]), at: .seconds(5))
        #expect(table.count == 1)
        let line = table.lines(at: .seconds(9), width: 80, height: 9).last
        #expect(line == "bob   00000001  random  0:09  a=b")
    }

    @Test("an id that is the hash of a key is shown as such, in the table and in lines")
    func keyed() throws {
        let ann = try PeerID(displayName: "ann", identity: .generate())
        var table = PeerTable()
        table.add(DiscoveredPeer(peer: ann, info: [:]), at: .zero)
        #expect(table.lines(at: .zero, width: 80, height: 9).last == "ann   \(ann.shortID)  keyed  0:00")
        let json = try JSON.encode(BrowseLine(.found, ann, at: .zero), isPretty: false)
        #expect(String(decoding: json, as: UTF8.self).contains("\"kind\":\"keyed\""))
        let line = NearbyLine(.found, 1, ann)
        #expect(line.sentence == "1  \(ann.introduction) is here, with a keyed id")
        #expect(line.text == "found\t1\t\(ann.id)\tann\t")
    }

    @Test("rows that do not fit the terminal are cut off and counted")
    func narrow() throws {
        var table = PeerTable()
        for number in 1...20 {
            table.add(
                try peer("peer \(number)", UInt64(number), ["key": String(repeating: "x", count: 99)]),
                at: .zero)
        }
        let lines = table.lines(at: .zero, width: 30, height: 6)
        #expect(lines.count == 6)
        #expect(lines.allSatisfy { $0.count <= 30 })
        #expect(lines.last == "and 16 more")
    }

    @Test("no name can be mistaken for the text around it")
    func introduction() throws {
        let name = "bob' (id 00000000) 'x"
        #expect(
            try peer(name, 0x1f2e_3d4c).peer.introduction
                == "'bob\\u{27} (id 00000000) \\u{27}x' (id 1f2e3d4c)")
    }

    @Test("a line for programs has five fields, and no text breaks them")
    func line() throws {
        let bob = try peer("b b", 7, ["k": "a\n\u{202e}b"])
        let address = try #require(SocketAddress("[::1]:5"))
        let line = BrowseLine(.found, bob.peer, info: bob.info, addresses: [address], at: .seconds(1))
        #expect(
            line.text
                == "found\t00000007000000000000000000000001\tb b\tk=a\\u{a}\\u{202e}b\t[::1]:5")
        #expect(BrowseLine(.lost, bob.peer, at: .zero).text.hasPrefix("lost\t"))
    }
}
