import Distributed
import Foundation
import Multipeer
import MultipeerActors
import TestSupport
import Testing

@Suite("Streams and files as arguments and results", .inTurns, .timeLimit(.minutes(3)))
struct EnclosureTests {
    @Test(
        "a stream that is an argument is read at the other peer",
        arguments: [PeerActorSystem.Format.binary, .json])
    func argument(_ format: PeerActorSystem.Format) async throws {
        let pair = try await CallTests.pair { $0.format = format }
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let (stream, writer) = ByteStream.make()
        async let length = remote.length(of: stream)
        for _ in 0..<40 { try await writer.write([UInt8](repeating: 9, count: 50_000)) }
        writer.finish()
        #expect(try await length == 2_000_000)
        await pair.end()
    }

    @Test("a stream that is a result is read where it was asked for")
    func result() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        var bytes: [UInt8] = []
        for try await piece in try await remote.count(to: 300) { bytes += piece }
        #expect(bytes == (0..<300).flatMap { [UInt8](repeating: UInt8($0 & 255), count: 1_000) })
        await pair.end()
    }

    @Test("a writer hears that nobody reads any more, and a reader that the writer has given up")
    func givenUp() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let (stream, writer) = ByteStream.make()
        async let first = remote.beginning(of: stream)
        await #expect(throws: (any Error).self) {
            while true { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
        }
        #expect(try await first > 0)

        let (other, otherWriter) = ByteStream.make()
        let reading = Task { try await remote.length(of: other) }
        try await otherWriter.write([1])
        otherWriter.abort()
        await #expect(throws: RemoteError.self) { try await reading.value }
        await pair.end()
    }

    @Test("a stream within one process is the same, and goes to one call alone")
    func near() async throws {
        let pair = try await CallTests.pair()
        let (stream, writer) = ByteStream.make()
        let local = Counter(actorSystem: pair.bob)
        try await writer.write([1, 2, 3])
        writer.finish()
        #expect(try await local.length(of: stream) == 3)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let (once, onceWriter) = ByteStream.make()
        onceWriter.finish()
        #expect(try await remote.length(of: once) == 0)
        let error = await #expect(throws: ActorCallError.self) { try await remote.length(of: once) }
        #expect(error?.code == .coding)
        await pair.end()
    }

    @Test("a file that is an argument is received at the other peer, one that is a result here")
    func files() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(bytes).write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        #expect(try await remote.contents(of: SentFile(place)) == bytes)
        #expect(try await local.contents(of: SentFile(place)) == bytes)
        let answer = try await remote.file(at: place.path)
        #expect(answer.name == place.lastPathComponent)
        let received = try await answer.receive()
        #expect(try Array(Data(contentsOf: received)) == bytes)
        try FileManager.default.removeItem(at: received)
        await pair.end()
    }

    @Test("a file that is not there fails where it is wanted", .timeLimit(.minutes(1)))
    func missingFile() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let answer = try await remote.file(at: "/nonexistent/file")
        let error = await #expect(throws: ActorCallError.self) { try await answer.receive() }
        #expect(error?.code == .coding)
        await pair.end()
    }

    @Test("a stream of a call that is not made is given up")
    func notMade() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let (stream, writer) = ByteStream.make()
        await #expect(throws: ActorCallError.self) {
            try await PeerActorSystem.withTimeout(.zero) { try await remote.length(of: stream) }
        }
        await #expect(throws: ActorCallError.self) { try await writer.write([1]) }
        await pair.end()
    }

    @Test("whoever waits for a stream hears when the link ends")
    func loss() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let (stream, writer) = ByteStream.make()
        let call = Task { try await remote.length(of: stream) }
        try await writer.write([1])
        await pair.bob.session.disconnect(within: .zero)
        await #expect(throws: ActorCallError.self) { try await call.value }
        await #expect(throws: (any Error).self) {
            while true { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
        }
        await pair.end()
    }
}
