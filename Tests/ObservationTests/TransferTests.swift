import Foundation
import Multipeer
import MultipeerObservation
import MultipeerTransport
import TestSupport
import Testing

@Suite("3 A room's files", .inTurns)
@MainActor struct TransferTests {
    private let rooms = Rooms()
    private let anns: Folder
    private let bobs: Folder

    init() throws { (anns, bobs) = (try Folder(), try Folder()) }

    @Test("a file waits for the receiver's user, shows its progress at both ends, and arrives")
    func arriving() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let bytes = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let sent = ann.send(file: try anns.file("photo.jpg", bytes), to: bob.peer)
        #expect(sent.state == .waiting && sent.name == "photo.jpg" && !sent.isIncoming)
        try await until { bob.transfers.count == 1 }
        let received = bob.transfers[0]
        #expect(received.state == .waiting && received.isIncoming && received.progress == nil)
        #expect(received.peer == ann.peer && received.name == "photo.jpg" && received.size == 8 << 20)

        bob.receive(received, into: bobs.url)
        #expect(received.state == .running)
        // The second time it is no longer an offer.
        bob.receive(received, into: bobs.url)
        try await until { sent.progress != nil && received.progress != nil }
        try await until { sent.state == .finished && received.state == .finished }
        #expect(
            sent.size == 8 << 20 && sent.progress?.fractionCompleted == 1
                && received.progress?.fractionCompleted == 1)
        #expect(sent.file == nil && received.file?.isVerified == true)
        let file = try #require(received.file)
        #expect(try Data(contentsOf: file.url) == Data(bytes))
        #expect(ann.transfers.map(\.id) == [sent.id])
        ann.dismiss(sent)
        bob.dismiss(received)
        #expect(ann.transfers.isEmpty && bob.transfers.isEmpty)
        await pair.stop()
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
    }

    @Test("a declined file can no longer be received, and its sender's transfer has failed")
    func declined() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let sent = ann.send(file: try anns.file("a file", [1]), to: bob.peer)
        try await until { bob.transfers.count == 1 }
        bob.cancel(bob.transfers[0])
        #expect(bob.transfers[0].state.code == .cancelled)
        bob.receive(bob.transfers[0])
        try await until { sent.state.code == .declined }
        #expect(ann.failures.isEmpty && bob.failures.isEmpty)
        await pair.stop()
    }

    @Test("either side cancels a transfer while it runs", arguments: [true, false])
    func cancelled(_ bySender: Bool) async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let (sent, received) = try await underWay(ann, bob)
        if bySender { ann.cancel(sent) } else { bob.cancel(received) }
        try await until { sent.state.code == .cancelled && received.state.code == .cancelled }
        #expect(bobs.names.isEmpty)
        // The link lives, and nothing of it is left to be cancelled.
        ann.cancel(sent)
        ann.send("still here")
        try await until { bob.texts == ["still here"] }
        await pair.stop()
    }

    @Test("a stop cancels what is on its way in both directions, and the other side is notified")
    func stopping() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let (sent, received) = try await underWay(ann, bob)
        let back = bob.send(file: try bobs.endless("back"), to: ann.peer)
        try await until { ann.transfers.count == 2 }
        let offered = ann.transfers[1]
        await ann.stop()
        #expect(sent.state.code == .cancelled && offered.state.code == .cancelled)
        try await until { received.hasFailed && back.hasFailed }
        #expect(bobs.names == ["back"])
        await bob.stop()
    }

    @Test("an offer fails as soon as its sender cancels it")
    func withdrawn() async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        let sent = ann.send(file: try anns.endless("endless"), to: bob.peer)
        try await until { bob.transfers.count == 1 }
        ann.cancel(sent)
        try await until { bob.transfers[0].state.code == .cancelled }
        bob.receive(bob.transfers[0], into: bobs.url)
        #expect(bob.transfers[0].state.code == .cancelled && bobs.names.isEmpty)
        await pair.stop()
    }

    @Test(
        "an offer fails with the link of its sender, whether or not all of it is here",
        arguments: [true, false])
    func lost(_ isWhole: Bool) async throws {
        let pair = try await rooms.linked("ann", "bob")
        let (ann, bob) = (pair[0], pair[1])
        ann.send(file: try isWhole ? anns.file("a file", [1]) : anns.endless("a file"), to: bob.peer)
        try await until { bob.transfers.count == 1 }
        await ann.session.disconnect()
        try await until { bob.transfers[0].state.code == .ended }
        await pair.stop()
    }

    @Test("a file that cannot be sent is a failed transfer")
    func failing() async throws {
        let ann = try rooms.room("ann")
        let unknown = try PeerID(displayName: "bob")
        let file = try anns.file("a file", [1])
        #expect(ann.send(file: file, to: unknown).state.code == .cancelled)
        ann.start()
        let unlinked = ann.send(file: file, to: unknown)
        try await until { unlinked.state.code == .notConnected }
        await ann.stop()
        let pair = try await rooms.linked("cid", "dan")
        let missing = pair[0].send(file: anns.url.appending(path: "missing"), to: pair[1].peer)
        try await until { missing.state.code == .file }
        #expect(pair[0].failures.isEmpty && pair[1].transfers.isEmpty)
        await pair.stop()
    }

    @Test("of the transfers that have ended, the newest are kept")
    func history() async throws {
        let ann = try rooms.room("ann")
        let unknown = try PeerID(displayName: "bob")
        ann.historyLimit = 2
        for number in 0..<5 { ann.send(file: anns.url.appending(path: "\(number)"), to: unknown) }
        // The one that was added last is not counted: it had not ended yet.
        #expect(ann.transfers.map(\.name) == ["2", "3", "4"])
    }

    /// A transfer that does not end by itself, at both ends.
    private func underWay(
        _ ann: RoomModel, _ bob: RoomModel
    ) async throws -> (sent: RoomModel.Transfer, received: RoomModel.Transfer) {
        let sent = ann.send(file: try anns.endless("endless"), to: bob.peer)
        try await until { bob.transfers.count == 1 }
        let received = bob.transfers[0]
        bob.receive(received, into: bobs.url)
        try await until {
            (sent.progress?.completedBytes ?? 0) > 0 && (received.progress?.completedBytes ?? 0) > 0
        }
        return (sent, received)
    }
}

extension RoomModel.Transfer {
    var hasFailed: Bool { state.code != nil }
}

extension RoomModel.Transfer.State {
    /// Why it has failed.
    var code: MultipeerError.Code? { if case .failed(let error) = self { error.code } else { nil } }
}
