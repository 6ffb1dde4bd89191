import Multipeer
import MultipeerObservation
import MultipeerTransport
import TestSupport
import Testing

@Suite("2 A room's messages", .inTurns)
@MainActor struct MessageTests {
    private let rooms = Rooms()

    @Test(
        "a message to all reaches every member, and one to a peer that peer alone; both are in the sender's history"
    )
    func recipients() async throws {
        let three = try await rooms.linked("ann", "bob", "cid")
        let (ann, bob, cid) = (three[0], three[1], three[2])
        ann.send("to all")
        ann.send([255, 254], to: bob.peer)
        ann.send("to all again")
        try await until { bob.messages.count == 3 && cid.messages.count == 2 }
        #expect(bob.messages.map(\.bytes) == [Array("to all".utf8), [255, 254], Array("to all again".utf8)])
        #expect(bob.messages[1].text == nil)
        #expect(cid.texts == ["to all", "to all again"])
        #expect(bob.messages.allSatisfy { $0.sender == ann.peer && $0.recipient == nil })
        #expect(ann.messages.map(\.bytes) == bob.messages.map(\.bytes))
        #expect(ann.messages.map(\.recipient) == [nil, bob.peer, nil])
        #expect(ann.messages.allSatisfy { $0.sender == ann.peer })
        #expect(Set(ann.messages.map(\.id)).count == 3)
        await three.stop()
    }

    @Test("many messages arrive in the order of the calls")
    func order() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let texts = (0..<500).map { "\($0)" }
        for text in texts { ann.send(text) }
        try await until { bob.messages.count == texts.count }
        #expect(bob.texts == texts && ann.texts == texts)
        await pair.stop()
    }

    @Test("the history keeps the newest messages, by number and by size")
    func history() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        bob.historyLimit = 3
        for number in 0..<10 { ann.send("\(number)") }
        try await until { bob.texts == ["7", "8", "9"] }
        #expect(ann.messages.count == 10)
        let large = [UInt8](repeating: 1, count: 6 << 20)
        for _ in 0..<3 { ann.send(large) }
        // Three times 6 MiB are more than 16 MiB.
        try await until { bob.messages.count == 2 && bob.messages[0].bytes.count == large.count }
        #expect(ann.messages.count == 2)
        bob.historyLimit = -1
        ann.send("last")
        try await until { bob.messages.isEmpty }
        await pair.stop()
    }

    @Test("a message that cannot be sent is a failure, and not in the history")
    func failing() async throws {
        let ann = try rooms.room("ann")
        ann.send("to all")
        #expect(ann.codes == [.notConnected] && ann.messages.isEmpty)
        var small = Session.Configuration()
        small.maximumMessageSize = 65_536
        let bob = try rooms.room("bob", session: small)
        ann.start()
        bob.start()
        try await rooms.link([ann, bob])
        ann.send([UInt8](repeating: 0, count: 65_537))
        #expect(ann.codes == [.notConnected, .tooLarge] && ann.messages.isEmpty)
        #expect(ann.failures.map(\.peer) == [nil, bob.peer])
        ann.historyLimit = 1
        ann.send("to an unknown peer", to: try PeerID(displayName: "cid"))
        #expect(ann.codes == [.notConnected] && ann.failures.count == 1)
        await [ann, bob].stop()
    }

    @Test("a message's contents are in no description")
    func descriptions() async throws {
        let pair = try await rooms.linked("ann", "bob")
        pair[0].send("secret")
        try await until { pair[1].messages.count == 1 }
        var dumped = ""
        dump(pair[1].messages[0], to: &dumped)
        for text in ["\(pair[1].messages[0])", String(reflecting: pair[1].messages[0]), dumped] {
            #expect(text.contains("6 bytes from ann") && !text.contains("secret") && !text.contains("115"))
        }
        await pair.stop()
    }
}
