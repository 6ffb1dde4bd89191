import Foundation
import Multipeer
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("8 Messages that are texts, data and values", .inTurns)
struct ContentTests {
    private struct Move: Codable, Equatable, Sendable {
        let x: Int
        let y: Int
    }

    @Test("text, data and a span arrive as their bytes")
    func bytes() async throws {
        let pair = try Meeting()
        try await within {
            var messages = pair.bob.messages.makeAsyncIterator()
            try await pair.link()
            try await pair.ann.send("grüße", to: pair.bob.peer)
            try await pair.ann.send(Data([1, 2, 3]), to: pair.bob.peer)
            try await pair.ann.send([255, 254].span, to: pair.bob.peer, delivery: .reliable)
            #expect(await messages.next()?.text == "grüße")
            #expect(await messages.next()?.data == Data([1, 2, 3]))
            let last = await messages.next()
            #expect(last?.bytes == [255, 254] && last?.text == nil)
        }
        await pair.end()
    }

    @Test("values arrive decoded, and bytes that are not a value do not end the loop")
    func values() async throws {
        let pair = try Meeting()
        try await within {
            var moves = pair.bob.messages(as: Move.self).makeAsyncIterator()
            try await pair.link()
            try await pair.ann.send("no move", to: pair.bob.peer)
            try await pair.ann.send(encoding: Move(x: 3, y: 4), to: pair.bob.peer)
            let wrong = await moves.next()
            #expect(throws: DecodingError.self) { try wrong?.value }
            let right = await moves.next()
            #expect(try right?.value == Move(x: 3, y: 4) && right?.peer == pair.ann.peer)
        }
        await pair.end()
    }

    @Test("messages, states, streams and files are separate sequences, for one loop each")
    func sequences() async throws {
        let pair = try Meeting()
        let folder = FileManager.default.temporaryDirectory.appending(path: "contents-\(UUID())")
        let inbox = folder.appending(path: "inbox")
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a file")
        try Data("contents".utf8).write(to: file)
        try await within {
            var states = pair.bob.peerStates.makeAsyncIterator()
            var streams = pair.bob.incomingStreams.makeAsyncIterator()
            var files = pair.bob.incomingResources.makeAsyncIterator()
            try await pair.link()
            let stream = try await pair.ann.openStream(to: pair.bob.peer, name: "a stream")
            try await stream.finish()
            let sent = try await pair.ann.send(file: file, to: pair.bob.peer)
            while let (peer, state) = await states.next() {
                #expect(peer == pair.ann.peer)
                if state == .connected { break }
            }
            #expect(await streams.next()?.name == "a stream")
            let offered = await files.next()
            #expect(offered?.name == "a file")
            let received = try await offered?.receive(into: inbox)
            #expect(try received.map { try Data(contentsOf: $0.url) } == Data("contents".utf8))
            try await sent.waitUntilReceived()
        }
        await pair.end()
    }

    @Test(
        "a message to all reaches every linked peer, even when one of them does not accept it"
    )
    func everyone() async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback())
        var small = Session.Configuration.loopback()
        small.maximumMessageSize = 65_536
        let others = [
            try Session(peer: PeerID(displayName: "bob"), configuration: .loopback()),
            try Session(peer: PeerID(displayName: "cid"), configuration: small),
        ]
        try await within {
            for other in others {
                let (mine, theirs) = (try await ann.connectionData(), try await other.connectionData())
                async let first: Void = ann.connect(with: theirs)
                async let second: Void = other.connect(with: mine)
                _ = try await (first, second)
            }
            #expect(Set(try await ann.sendToAll([1])) == Set(others.map(\.peer)))
            #expect(try await ann.sendToAll([UInt8](repeating: 2, count: 65_537)) == [others[0].peer])
            for other in others {
                var messages = other.messages.makeAsyncIterator()
                #expect(await messages.next()?.bytes == [1])
            }
            var moves = others[1].messages(as: Move.self, using: .json).makeAsyncIterator()
            var messages = others[1].messages.makeAsyncIterator()
            #expect(try await ann.sendToAll(encoding: Move(x: 1, y: 2)).count == 2)
            #expect(try await ann.sendToAll("text").count == 2)
            #expect(try await ann.sendToAll(Data([9])).count == 2)
            #expect(try await moves.next()?.value == Move(x: 1, y: 2))
            _ = await messages.next()
            #expect(await messages.next()?.text == "text")
            #expect(await messages.next()?.bytes == [9])
        }
        #expect(try await ann.sendToAll([3], delivery: .unreliable).count == 2)
        for session in [ann] + others { await session.disconnect() }
        #expect(try await ann.sendToAll([4]).isEmpty)
    }

    @Test("a peer that takes nothing delays no other: messages to all, or several, arrive there")
    func slowPeer() async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback())
        let others = try ["bob", "cid"].map {
            try Session(peer: PeerID(displayName: $0), configuration: .loopback())
        }
        let (bob, cid) = (others[0], others[1])
        try await within {
            // In the order of their links, in which the calls visit them.
            for other in others {
                let (mine, theirs) = (try await ann.connectionData(), try await other.connectionData())
                async let first: Void = ann.connect(with: theirs)
                async let second: Void = other.connect(with: mine)
                _ = try await (first, second)
            }
            // Bob takes no message: in the end there is neither credit nor room.
            let block = [UInt8](repeating: 1, count: 65_536)
            var last = ContinuousClock.now
            while ContinuousClock.now - last < .milliseconds(300) {
                if try ann.driver.queues.offer(block, to: bob.peer.uid) { last = .now }
                await Task.yield()
            }
        }
        let toAll = Task { try await ann.sendToAll([7]) }
        let toBoth = Task { try await ann.send([8], to: [bob.peer, cid.peer]) }
        let received = try await within {
            var messages = cid.messages.makeAsyncIterator()
            return Set([await messages.next()?.bytes, await messages.next()?.bytes])
        }
        #expect(received == [[7], [8]])
        await bob.disconnect()
        #expect(try await within { try await toAll.value } == [cid.peer])
        await #expect(throws: MultipeerError.self) { try await within { try await toBoth.value } }
        for session in [ann] + others { await session.disconnect() }
    }
}
