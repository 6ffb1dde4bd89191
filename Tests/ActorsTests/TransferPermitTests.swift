import Distributed
import Foundation
import Multipeer
import MultipeerActors
import MultipeerTransport
import TestSupport
import Testing

@Suite("Streams and files that wait for their turn", .inTurns)
struct TransferPermitTests {
    /// Linked, and Bob has a shelf, which Ann calls.
    private static func pair(
        _ change: (inout PeerActorSystem.Configuration) -> Void
    ) async throws -> (pair: Pair, shelf: Shelf, remote: Shelf) {
        var configuration = PeerActorSystem.Configuration()
        change(&configuration)
        let pair = try await Pair(ann: configuration, bob: configuration) { try $0.register(Shelf.self) }
        let shelf = Shelf(actorSystem: pair.bob)
        return (pair, shelf, try Shelf.resolve(id: shelf.id, using: pair.ann))
    }

    /// Returns the error of a writer whose stream ends early.
    private static func failure(_ writer: ByteStream.Writer) async throws -> any Error {
        try await within(.seconds(30)) {
            do {
                while true { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
            } catch {
                return error
            }
        }
    }

    @Test("a stream that the peer has released gives way to the next while its own writer is idle")
    func idle() async throws {
        let (pair, shelf, remote) = try await Self.pair {
            $0.limits.streams = 1
            $0.timeLimit = .seconds(600)
        }
        let (idle, idleWriter) = ByteStream.make()
        try await remote.ignore(idle)
        let (stream, writer) = ByteStream.make()
        try await writer.write([1, 2, 3])
        writer.finish()
        #expect(try await within(.seconds(30)) { try await remote.length(of: stream) } == 3)
        await #expect(throws: (any Error).self) { try await idleWriter.write([1]) }
        await pair.end()
        withExtendedLifetime(shelf) {}
    }

    @Test("reading a peer's stream in a task that is cancelled throws CancellationError")
    func cancelledReader() async throws {
        let (pair, shelf, remote) = try await Self.pair { $0.limits.streams = 1 }
        let stream = try #require(try await remote.open(1).first)
        let begun = Promise<Void>()
        let reading = Task { for try await _ in stream { begun.send(()) } }
        try await within(.seconds(30)) { await begun.value() }
        reading.cancel()
        await #expect(throws: CancellationError.self) {
            try await within(.seconds(30)) { try await reading.value }
        }
        await pair.end()
        withExtendedLifetime(shelf) {}
    }

    @Test("64 streams wait after their calls, and the writer of a further one fails at once")
    func tooMany() async throws {
        let (pair, shelf, remote) = try await Self.pair {
            $0.limits.streams = 1
            ($0.limits.calls, $0.limits.nestedCalls) = (1, 1)
            $0.timeLimit = .seconds(600)
        }
        var writers: [ByteStream.Writer] = []
        // One is in progress, and 64 wait.
        for _ in 0..<66 {
            let (stream, writer) = ByteStream.make()
            try await remote.keep(stream)
            writers.append(writer)
        }
        let last = try #require(writers.last)
        let error = try await Self.failure(last) as? ActorCallError
        #expect(error?.code == .busy)
        for writer in writers.dropLast() { try await writer.write([1]) }
        await pair.end()
        withExtendedLifetime(shelf) {}
    }

    @Test("a waiting stream is dropped with the link, and its writer fails with the reason")
    func lost() async throws {
        let (pair, shelf, remote) = try await Self.pair {
            $0.limits.streams = 1
            $0.timeLimit = .seconds(600)
        }
        var writers: [ByteStream.Writer] = []
        for _ in 0..<4 {
            let (stream, writer) = ByteStream.make()
            try await remote.keep(stream)
            writers.append(writer)
        }
        await pair.bob.session.disconnect(within: .zero)
        for writer in writers.dropFirst() {
            let error = try await Self.failure(writer)
            // One may have had its turn in the middle of the end.
            let isEnd = (error as? MultipeerError)?.code == .ended
            #expect(isEnd || (error as? ActorCallError)?.code == .ended)
        }
        await pair.end()
        withExtendedLifetime(shelf) {}
    }

    @Test("the streams of a result count while they wait, and no longer once they have had their turn")
    func weight() async throws {
        let (pair, shelf, remote) = try await Self.pair {
            $0.limits.streams = 1
            // Eight that wait at once would be all that the peer's calls may have.
            $0.limits.callBytes = 1_048_576
            $0.timeLimit = .seconds(600)
        }
        let streams = try await remote.open(16)
        for (number, stream) in streams.enumerated() {
            try await within(.seconds(30)) {
                var pieces = stream.makeAsyncIterator()
                #expect(try await pieces.next() == [7])
                try await remote.finish(number)
                #expect(try await pieces.next() == nil)
            }
        }
        try await ending { pair.bob.underway.others == 0 }
        await pair.end()
        withExtendedLifetime(shelf) {}
    }

    @Test("task-local values of a call are released even when its streams outlive it")
    func local() async throws {
        let (pair, shelf, remote) = try await Self.pair { $0.timeLimit = .seconds(600) }
        let (stream, writer) = ByteStream.make()
        weak var burden: Burden?
        do {
            let own = Burden()
            burden = own
            try await Burden.$current.withValue(own) { try await remote.keep(stream) }
        }
        try await ending { burden == nil }
        try await writer.write([1])
        await pair.end()
        withExtendedLifetime(shelf) {}
    }
}

/// What a task carries about.
private final class Burden: Sendable {
    @TaskLocal static var current: Burden?
}

/// Has streams lying about.
distributed actor Shelf {
    typealias ActorSystem = PeerActorSystem
    private var kept: [ByteStream] = []
    private var writers: [ByteStream.Writer] = []

    distributed func ignore(_ stream: ByteStream) {}
    /// Neither reads it nor releases it.
    distributed func keep(_ stream: ByteStream) { kept.append(stream) }

    distributed func length(of stream: ByteStream) async throws -> Int {
        var length = 0
        for try await piece in stream { length += piece.count }
        return length
    }

    /// Streams of one byte each so far.
    distributed func open(_ count: Int) async throws -> [ByteStream] {
        var streams: [ByteStream] = []
        for _ in 0..<count {
            let (stream, writer) = ByteStream.make()
            try await writer.write([7])
            streams.append(stream)
            writers.append(writer)
        }
        return streams
    }

    distributed func finish(_ number: Int) { writers[number].finish() }
}
