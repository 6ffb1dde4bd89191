import Multipeer
import MultipeerObservation
import Observation
import TestSupport
import Testing

@Suite("5 A room is observed", .inTurns)
@MainActor struct ObservationTests {
    private let rooms = Rooms()

    @Test("a change of each property is observed by what reads that property alone")
    func properties() async throws {
        let (ann, bob) = (try rooms.room("ann"), try rooms.room("bob"))
        let log = ChangeLog()
        log.watch("isRunning") { _ = ann.isRunning }
        log.watch("nearby") { _ = ann.nearby }
        log.watch("members") { _ = ann.members }
        log.watch("invitations") { _ = ann.invitations }
        log.watch("messages") { _ = ann.messages }
        log.watch("transfers") { _ = ann.transfers }
        log.watch("failures") { _ = ann.failures }
        log.watch("historyLimit") { _ = ann.historyLimit }
        ann.historyLimit = 10
        try await until { log.changed == ["historyLimit"] }

        ann.start()
        bob.start()
        try await rooms.link([bob, ann])
        try await until {
            log.changed == ["historyLimit", "isRunning", "nearby", "members", "invitations"]
        }
        bob.send("hello")
        try await until { ann.messages.count == 1 }
        let folder = try Folder()
        let sent = bob.send(
            file: try folder.file("a file", [UInt8](repeating: 7, count: 1 << 20)), to: ann.peer)
        log.watch("size") { _ = sent.size }
        try await until { ann.transfers.count == 1 }
        let transfer = ann.transfers[0]
        ann.send("to an unknown peer", to: try PeerID(displayName: "cid"))
        try await until {
            log.changed.isSuperset(of: ["messages", "transfers", "failures"])
        }

        log.watch("state") { _ = transfer.state }
        log.watch("progress") { _ = transfer.progress }
        log.watch("file") { _ = transfer.file }
        let before = log.counts["transfers"]
        #expect(before == 1)
        ann.receive(transfer, into: folder.url)
        try await until { transfer.state == .finished && sent.state == .finished }
        try await until { log.changed.isSuperset(of: ["state", "progress", "file", "size"]) }
        // The progress of a file is no change of the list: only its own row is drawn again.
        #expect(log.counts["transfers"] == before)
        await [ann, bob].stop()
    }

    @Test("a list that stays the same is not drawn again")
    func unchanged() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let log = ChangeLog()
        log.watch("nearby") { _ = ann.nearby }
        log.watch("members") { _ = ann.members }
        bob.send("hello")
        try await until { ann.texts == ["hello"] }
        #expect(log.changed.isEmpty)
        await pair.stop()
    }

    @Test("the changes are an asynchronous sequence, for programs without a view")
    func sequence() async throws {
        let ann = try rooms.room("ann")
        let bob = try rooms.room("bob")
        let names = Observations { ann.nearby.map(\.name) }
        let waiting = Task {
            for await shown in names where shown == ["bob"] { return true }
            return false
        }
        ann.start()
        bob.start()
        let isShown = try await within { await waiting.value }
        #expect(isShown)
        await [ann, bob].stop()
    }
}
