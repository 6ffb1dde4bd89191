import Multipeer
import MultipeerObservation
import MultipeerTransport
import TestSupport
import Testing

@Suite("4 A room's lifetime", .inTurns)
@MainActor struct LifetimeTests {
    private let rooms = Rooms()

    @Test(
        "run returns when its task is cancelled, and has stopped everything; a stop ends it, too",
        arguments: [true, false])
    func running(_ isCancelled: Bool) async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        await ann.stop()
        try await until { bob.members.isEmpty }
        let running = Task { await ann.run() }
        try await rooms.link([ann, bob])
        #expect(ann.isRunning)
        if isCancelled { running.cancel() } else { await ann.stop() }
        await running.value
        #expect(!ann.isRunning && ann.members.isEmpty && ann.nearby.isEmpty)
        #expect(await ann.session.connectedPeers.isEmpty)
        try await until { bob.members.isEmpty && bob.nearby.isEmpty }
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
        await bob.stop()
        await bob.stop()
    }

    @Test("a room that is started while it stops runs again afterwards")
    func restarting() async throws {
        let (ann, bob) = (try rooms.room("ann"), try rooms.room("bob"))
        bob.start()
        for number in 0..<3 {
            let running = Task { await ann.run() }
            try await rooms.link([ann, bob])
            running.cancel()
            // The run has not ended: nothing has happened on this actor since.
            #expect(ann.isRunning)
            ann.start()
            ann.start()
            await running.value
            #expect(ann.isRunning)
            try await until { bob.members.isEmpty }
            try await rooms.link([ann, bob])
            bob.send("\(number)")
            try await until { ann.messages.count == number + 1 }
            await ann.stop()
            try await until { bob.members.isEmpty }
        }
        #expect(ann.failures.isEmpty)
        await bob.stop()
    }

    @Test(
        "a request to a room that does not run is a failure, and a run that was cancelled before its start does nothing"
    )
    func idle() async throws {
        let ann = try rooms.room("ann")
        await ann.stop()
        let bob = try PeerID(displayName: "bob")
        ann.invite(bob)
        #expect(ann.codes == [.cancelled] && ann.failures[0].peer == bob && ann.nearby.isEmpty)
        let running = Task { await ann.run() }
        running.cancel()
        await running.value
        #expect(!ann.isRunning && ann.failures.count == 1)
    }

    @Test("a room whose discovery cannot start ends with a failure")
    func undiscoverable() async throws {
        let room = try RoomModel(
            peer: PeerID(displayName: "ann"), service: "nowhere",
            discovery: DiscoveryConfiguration(interfaces: .only(["none-such0"])))
        await room.run()
        #expect(!room.isRunning && room.codes == [.discovery] && room.failures[0].peer == nil)
        room.start()
        try await until { !room.isRunning && room.codes == [.discovery, .discovery] }
    }

    @Test("strings that break the rules are rejected when the room is created")
    func invalid() throws {
        let ann = try PeerID(displayName: "ann")
        #expect(throws: MultipeerError.self) { try RoomModel(peer: ann, service: "not a service type!") }
        #expect(throws: MultipeerError.self) { try RoomModel(peer: ann, service: "chat", info: ["": ""]) }
    }

    @Test("a session is limited to loopback when discovery is")
    func loopback() throws {
        let ann = try PeerID(displayName: "ann")
        let room = try RoomModel(peer: ann, service: "chat", discovery: .loopback)
        #expect(room.session.configuration.listenAddresses == DiscoveryConfiguration.loopback.listenAddresses)
        #expect(!room.session.configuration.listenAddresses.isEmpty)
    }

    @Test(
        "a model without references is released with its session, also while it runs, and its members receive a goodbye"
    )
    func released() async throws {
        let bob = try rooms.room("bob")
        bob.start()
        weak var model: RoomModel?
        let session = Released()
        do {
            let ann = try rooms.room("ann")
            ann.start()
            try await rooms.link([ann, bob])
            // A request that does not end by itself.
            let folder = try Folder()
            ann.send(file: try folder.endless("endless"), to: bob.peer)
            try await until { bob.transfers.count == 1 }
            (model, session.object) = (ann, ann.session)
            #expect(model != nil && session.object != nil)
        }
        #expect(model == nil)
        try await until { bob.members.isEmpty && bob.nearby.isEmpty }
        #expect(bob.failures.isEmpty)
        try await within { while await session.object != nil { await Task.yield() } }
        await bob.stop()
    }

    @Test(
        "the application may iterate over the session's events, too, and ends the run when it disconnects"
    )
    func session() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        var streams = ann.session.incomingStreams.makeAsyncIterator()
        let stream = try await bob.session.openStream(to: ann.peer, name: "log")
        let incoming = try #require(await streams.next())
        #expect(incoming.name == "log")
        try await stream.finish()
        await ann.session.disconnect()
        try await until { !ann.isRunning && ann.members.isEmpty && bob.members.isEmpty }
        ann.start()
        try await rooms.link(pair)
        bob.send("again")
        try await until { ann.texts == ["again"] }
        await pair.stop()
    }
}

/// An object that is expected to be released.
@MainActor private final class Released {
    weak var object: Session?
}
