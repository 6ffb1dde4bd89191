import Distributed
import Foundation
import Multipeer
import MultipeerActors
import MultipeerCore
import TestSupport
import Testing

@Suite("Streams and files as arguments and results", .inTurns)
struct AttachmentTests {
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

    @Test("a stream that is a result is read by the caller")
    func result() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        var bytes: [UInt8] = []
        for try await piece in try await remote.count(to: 300) { bytes += piece }
        var expected: [UInt8] = []
        for number in 0..<300 { expected += [UInt8](repeating: UInt8(number & 255), count: 1_000) }
        #expect(bytes == expected)
        await pair.end()
    }

    @Test("a writer fails when the reader has stopped, and a reader fails when the writer aborts")
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

    @Test("a local call passes the stream itself, and a stream can be passed to one call only")
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

    @Test("a file argument is received at the called peer, a file result at the caller")
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

    @Test("a file that does not exist fails when it is received")
    func missingFile() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let answer = try await remote.file(at: "/nonexistent/file")
        let error = await #expect(throws: ActorCallError.self) { try await answer.receive() }
        #expect(error?.code == .coding)
        await pair.end()
    }

    @Test("a stream is closed when its call is not made")
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

    @Test("reading and writing a stream fail when the link ends")
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

    @Test("writing to a local method that does not read fails, as it does at a peer")
    func nearAndUnread() async throws {
        let pair = try await CallTests.pair()
        let local = Counter(actorSystem: pair.bob)
        let near = try $Greeter.resolve(id: local.id, using: pair.bob)
        let far = try $Greeter.resolve(id: local.id, using: pair.ann)
        for greeter in [near, far] {
            let (stream, writer) = ByteStream.make()
            try await greeter.ignore(stream)
            try await within(.seconds(30)) {
                _ = await #expect(throws: (any Error).self) {
                    while true { try await writer.write([UInt8](repeating: 1, count: 10_000)) }
                }
            }
        }
        await pair.end()
    }

    @Test("single bytes that are written are merged into few pieces")
    func crumbs() async throws {
        let (stream, writer) = ByteStream.make()
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for byte in bytes { try await writer.write([byte]) }
        writer.finish()
        var (read, pieces): ([UInt8], Int) = ([], 0)
        for try await piece in stream {
            read += piece
            pieces += 1
        }
        #expect(read == bytes)
        #expect(pieces <= 3)
    }

    @Test("a stream has one reader")
    func readTwice() async throws {
        let (stream, writer) = ByteStream.make()
        var first = stream.makeAsyncIterator()
        try await writer.write([1])
        #expect(try await first.next() == [1])
        var second = stream.makeAsyncIterator()
        await #expect(throws: ActorCallError.self) { try await second.next() }
        writer.finish()
        #expect(try await first.next() == nil)
    }

    @Test(
        "files in results that the peer has not received count as calls, and are sent as others are received")
    func untaken() async throws {
        let pair = try await CallTests.pair { $0.limits.streams = 2 }
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let bytes = [UInt8](repeating: 7, count: 1_048_576)
        try Data(bytes).write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        var files: [SentFile] = []
        for _ in 0..<6 { files.append(try await remote.file(at: place.path)) }
        try await ending { pair.bob.underway.others == 4 }
        for file in files {
            let received = try await within(.seconds(30)) { try await file.receive() }
            #expect(try Array(Data(contentsOf: received)) == bytes)
            try FileManager.default.removeItem(at: received)
        }
        try await ending { pair.bob.underway.others == 0 }
        await pair.end()
    }

    @Test("a stream that waits for its turn is dropped with its call, and the others go on")
    func givenUpInTheQueue() async throws {
        let pair = try await CallTests.pair { $0.limits.streams = 1 }
        let local = Counter(actorSystem: pair.bob)
        let remote = try Counter.resolve(id: local.id, using: pair.ann)
        let pipes = (0..<3).map { _ in ByteStream.make() }
        let calls = pipes.map { pipe in Task { try await remote.length(of: pipe.stream) } }
        // The first of them all that is read has its turn.
        for pipe in pipes { try await pipe.writer.write([1]) }
        try await ending { pair.bob.underway.others == 3 }
        calls[1].cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        // The task that waits for its turn is notified a moment later.
        try await within(.seconds(30)) {
            _ = await #expect(throws: ActorCallError.self) {
                while true {
                    try await pipes[1].writer.write([2])
                    await Task.yield()
                }
            }
        }
        pipes[0].writer.finish()
        pipes[2].writer.finish()
        #expect(try await within(.seconds(30)) { try await calls[0].value } == 1)
        #expect(try await within(.seconds(30)) { try await calls[2].value } == 1)
        await pair.end()
    }

    @Test("of streams that a peer opens without a call, a few are kept and the others declined")
    func flood() async throws {
        let mallory = try Session.onLoopback("mallory")
        let bob = try await PeerActorSystem.alone("bob") {
            // Twice as many as these and one at each of eight depths are kept.
            ($0.limits.calls, $0.limits.nestedCalls) = (4, 1)
            $0.timeLimit = .seconds(600)
        }
        try await mallory.link(to: bob.session)
        let declined = Watch()
        var streams: [Task<Void, Never>] = []
        for number in 0..<36 {
            let token = String(repeating: "0", count: 30) + String(number + 100, radix: 16)
            let name = "org.swift-multipeer.actors/\(token)"
            streams.append(Task { await Self.write(name, from: mallory, to: bob.peer, declined) })
        }
        try await ending { declined.running.withLock { $0 } >= 12 }
        for stream in streams { stream.cancel() }
        for stream in streams { await stream.value }
        #expect(declined.running.withLock { $0 } == 12)
        await mallory.disconnect()
        await bob.session.disconnect()
    }

    @Test("the wait for a stream that the peer named and never opens ends")
    func neverOpened() async throws {
        let mallory = try Session.onLoopback("mallory")
        let bob = try await PeerActorSystem.alone("bob") { $0.timeLimit = .milliseconds(50) }
        try bob.register(Counter.self)
        let local = Counter(actorSystem: bob)
        try await mallory.link(to: bob.session)
        let (call, _) = try await Self.call(to: local.id.place) { _ = try await $0.length(of: $1) }
        try await mallory.send(call, to: bob.peer)
        let answer = try await within(.seconds(30)) { try await mallory.firstAnswer() }
        guard case .failure(.thrown, _, let text) = answer else { throw Overdue() }
        #expect(text.contains("has not opened the stream"))
        await mallory.disconnect()
        await bob.session.disconnect()
    }

    /// Writes until the stream has no reader any more, or the task is cancelled.
    private static func write(
        _ name: String, from session: Session, to peer: PeerID, _ declined: Watch
    ) async {
        do {
            let stream = try await session.openStream(to: peer, name: name)
            while true { try await stream.write([UInt8](repeating: 1, count: 10_000)) }
        } catch {
            if !Task.isCancelled { declined.enter() }
        }
    }

    @Test("a stream that its method did not use is declined, even when it is opened after the call")
    func unwanted() async throws {
        let mallory = try Session.onLoopback("mallory")
        let bob = try await PeerActorSystem.alone("bob") { $0.timeLimit = .seconds(600) }
        try bob.register(Counter.self)
        let local = Counter(actorSystem: bob)
        try await mallory.link(to: bob.session)
        let (call, token) = try await Self.call(to: local.id.place) { try await $0.ignore($1) }
        try await mallory.send(call, to: bob.peer)
        let answer = try await within(.seconds(30)) { try await mallory.firstAnswer() }
        #expect(answer == .done)
        // A moment later the arguments are gone, too; until then the stream is expected.
        let stream = try await mallory.openStream(
            to: bob.peer, name: "org.swift-multipeer.actors/\(token)")
        try await within(.seconds(30)) {
            _ = await #expect(throws: MultipeerError.self) {
                while true { try await stream.write([UInt8](repeating: 1, count: 10_000)) }
            }
        }
        await mallory.disconnect()
        await bob.session.disconnect()
    }

    /// Returns the CALL of a system that calls with a stream, to be replayed by a peer without that stream, and the
    /// stream's token.
    private static func call(
        to place: ActorID.Place, _ calling: @escaping @Sendable (Counter, ByteStream) async throws -> Void
    ) async throws -> (bytes: [UInt8], token: String) {
        let ann = try await PeerActorSystem.alone("ann")
        let listener = try Session.onLoopback("listener")
        try await ann.session.link(to: listener)
        try await listener.send(
            Envelope.hello(Envelope.Hello(incarnation: 5, calls: 1, bytes: 1 << 20, longest: 1 << 20)).bytes,
            to: ann.peer)
        let remote = try Counter.resolve(id: ActorID("any", at: listener.peer), using: ann)
        let (stream, writer) = ByteStream.make()
        let calling = Task { try await calling(remote, stream) }
        let call = try await within(.seconds(30)) {
            for await event in listener.events {
                guard case .message(let message) = event else { continue }
                let envelope = try message.withBytes { bytes throws(EnvelopeFault) in try Envelope(bytes) }
                if case .call(var call) = envelope {
                    call.place = place
                    let token = try BinaryDecoder().decode(String.self, from: call.arguments[0])
                    return (Envelope.call(call).bytes, token)
                }
            }
            throw Overdue()
        }
        calling.cancel()
        writer.abort()
        await ann.session.disconnect()
        await listener.disconnect()
        return call
    }
}
