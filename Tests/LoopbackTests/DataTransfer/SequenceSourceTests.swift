import Foundation
import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 Files from sequences of bytes", .inTurns)
struct SequenceSourceTests {
    struct Broken: Error {}

    @Test(
        "the elements of a sequence arrive as one file, empty ones included, with and without a size [resource.size] [resource.digest]",
        arguments: [true, false])
    func whole(_ isSized: Bool) async throws {
        let files = try await FileMeeting()
        var seed = Seeded(1)
        let pieces = [0, 1, 70_000, 0, 300_000, 16_376, 0].map { Data(seed.bytes($0)) }
        let bytes = pieces.flatMap { $0 }
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        for piece in pieces { continuation.yield(piece) }
        continuation.finish()
        let size = isSized ? UInt64(bytes.count) : nil
        let sending = try await files.ann.send(
            contentsOf: chunks, size: size, to: files.bob.peer, name: "song", metadata: [7])
        let resource = try await files.offered()
        #expect(resource.name == "song" && resource.metadata == [7] && resource.size == size)
        let file = try await files.receive(resource).get()
        #expect(try await sending.end() == nil)
        #expect(try Data(contentsOf: file.url) == Data(bytes))
        #expect(file.isVerified && file.size == UInt64(bytes.count))
        try await files.expectLife(1)
        await files.end()
    }

    @Test("a sequence without elements is an empty file")
    func empty() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(
            contentsOf: AsyncStream<[UInt8]> { $0.finish() }, size: 0, to: files.bob.peer, name: "empty")
        let file = try await files.receive(try await files.offered()).get()
        #expect(try await sending.end() == nil)
        #expect(try Data(contentsOf: file.url).isEmpty)
        await files.end()
    }

    @Test(
        "the next element is requested once the previous one is on its way, so a slow peer slows the source")
    func slow() async throws {
        let files = try await FileMeeting()
        let requested = Locked(0)
        let chunks = AsyncStream<[UInt8]> {
            requested.withLock { $0 += 1 }
            return [UInt8](repeating: 1, count: 1_048_576)
        }
        let sending = try await files.ann.send(contentsOf: chunks, to: files.bob.peer, name: "endless")
        let resource = try await files.offered()
        // Nothing is read there: what is requested stays within the credit of the channel and the queues.
        try await files.meeting.expectTalk()
        #expect(requested.withLock { $0 } <= 8)
        let receiving = Task { await files.receive(resource).code }
        try await within { while requested.withLock({ $0 }) < 32 { await Task.yield() } }
        sending.cancel()
        #expect(try await sending.end() == MultipeerError(.cancelled, ""))
        #expect(await receiving.value == .cancelled)
        try await files.expectLife()
        await files.end()
    }

    @Test(
        "a sequence that throws ends the transfer with its reason, and the peer keeps nothing [resource.cancel]"
    )
    func throwing() async throws {
        let files = try await FileMeeting()
        let (chunks, continuation) = AsyncThrowingStream.makeStream(of: [UInt8].self)
        continuation.yield([1, 2, 3])
        let sending = try await files.ann.send(contentsOf: chunks, to: files.bob.peer, name: "broken")
        let resource = try await files.offered()
        let receiving = Task { await files.receive(resource) }
        continuation.finish(throwing: Broken())
        let error = try #require(try await sending.end())
        #expect(error.code == .source && error.description == "the source of the file failed: Broken()")
        #expect(await receiving.value.code == .aborted)
        try await files.expectLife()
        await files.end()
    }

    @Test(
        "a sequence of another length than announced is an error on both sides",
        arguments: [
            (3, "the source ended after 3 of 5 bytes"), (6, "the source has more than the announced 5 bytes"),
        ])
    func otherLength(_ count: Int, _ complaint: String) async throws {
        let files = try await FileMeeting()
        let chunks = AsyncStream<[UInt8]> { continuation in
            for number in 0..<count { continuation.yield([UInt8(number)]) }
            continuation.finish()
        }
        let sending = try await files.ann.send(contentsOf: chunks, size: 5, to: files.bob.peer, name: "wrong")
        let received = await files.receive(try await files.offered())
        let error = try #require(try await sending.end())
        #expect(error.code == .source && error.description == complaint)
        #expect(received.code != nil)
        try await files.expectLife()
        await files.end()
    }

    @Test("when the peer declines, the sequence is cancelled, and the reason is the peer's")
    func declined() async throws {
        let files = try await FileMeeting()
        let ended = Promise<String>()
        // The transfer alone keeps it: one that ends between two elements releases the sequence, which is then cancelled, too.
        func chunks() -> AsyncStream<[UInt8]> {
            AsyncStream { continuation in
                continuation.onTermination = { _ = ended.send("\($0)") }
                continuation.yield([1])
            }
        }
        let sending = try await files.ann.send(contentsOf: chunks(), to: files.bob.peer, name: "unwanted")
        let resource = try await files.offered()
        resource.decline()
        #expect(try await sending.end() == MultipeerError(.declined, ""))
        let reason = try await within { await ended.valueUnlessCancelled() }
        #expect(reason == "cancelled")
        try await files.expectLife()
        await files.end()
    }

    @Test("a peer that is not linked, a name that is too long: the sequence is not read")
    func refused() async throws {
        let files = try await FileMeeting()
        let isRead = Locked(false)
        func chunks() -> AsyncStream<[UInt8]> {
            AsyncStream {
                isRead.withLock { $0 = true }
                return nil
            }
        }
        let carol = try PeerID(displayName: "carol")
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await files.ann.send(contentsOf: chunks(), to: carol, name: "x")
        }
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await files.ann.send(
                contentsOf: chunks(), to: files.bob.peer, name: String(repeating: "n", count: 1_025))
        }
        #expect(isRead.withLock { !$0 })
        await files.end()
    }
}
