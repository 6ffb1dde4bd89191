import Multipeer
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 Streams over loopback", .inTurns)
struct StreamTests {
    @Test("streams are sent both ways at once, byte for byte, in pieces of any size [stream.end]")
    func bothWays() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let bytes = MessageTests.pattern(3_000_000)
        async let first: Void = Self.send(bytes, in: 7_919, meeting.ann, meeting.bob)
        async let second: Void = Self.send(bytes, in: 300_000, meeting.bob, meeting.ann)
        async let bobs = within { try await meeting.bob.events.firstStream().all() }
        async let anns = within { try await meeting.ann.events.firstStream().all() }
        let (atBob, atAnn) = try await (bobs, anns)
        _ = try await (first, second)
        #expect(atBob == bytes)
        #expect(atAnn == bytes)
        let facts = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer))
        #expect(facts.statistics.channelBytesSent == bytes.count)
        #expect(facts.statistics.channelBytesReceived == bytes.count)
        await meeting.end()
    }

    @Test("a stream has its opener, name and metadata [channel.name]")
    func announcement() async throws {
        let meeting = try Meeting(ann: .loopback(.none), bob: .loopback(.none))
        try await meeting.link()
        let name = String(repeating: "ä", count: 512)
        let out = try await meeting.ann.openStream(to: meeting.bob.peer, name: name, metadata: [1, 2, 3])
        let stream = try await within { try await meeting.bob.events.firstStream() }
        #expect(stream.peer == meeting.ann.peer)
        #expect(stream.name == name)
        #expect(stream.metadata == [1, 2, 3])
        #expect(out.name == name && out.peer == meeting.bob.peer)
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await meeting.ann.openStream(to: meeting.bob.peer, name: "")
        }
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await meeting.ann.openStream(to: meeting.bob.peer, name: name + "x")
        }
        await #expect(throws: MultipeerError(.invalidArgument, "")) {
            try await meeting.ann.openStream(
                to: meeting.bob.peer, name: "x", metadata: [UInt8](repeating: 0, count: 1_025))
        }
        await meeting.end()
    }

    @Test("an empty stream ends, and nothing can be written after its end [stream.end]")
    func empty() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        for _ in 0..<20 { try await out.write([]) }
        try await out.finish()
        #expect(try await within { try await stream.all() } == [])
        await #expect(throws: MultipeerError(.invalidArgument, "")) { try await out.write([1]) }
        try await out.finish()
        out.abort()
        #expect(try await within { try await stream.all() } == [])
        await meeting.end()
    }

    @Test("one direction ends while the other goes on [stream.end]")
    func halfClose() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (question, heard) = try await meeting.stream()
        let (answer, answered) = try await meeting.stream(from: meeting.bob, to: meeting.ann)
        try await question.write([1, 2, 3])
        try await question.finish()
        #expect(try await within { try await heard.all() } == [1, 2, 3])
        for byte in UInt8(0)..<100 { try await answer.write([byte]) }
        try await answer.finish()
        #expect(try await within { try await answered.all() } == Array(0..<100))
        await meeting.end()
    }

    @Test("the end comes after the last byte, even for a late reader [stream.end]")
    func endAfterTheLastByte() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        for count in [1, 262_143, 262_144, 1_000_000] {
            let (out, stream) = try await meeting.stream()
            let bytes = MessageTests.pattern(count)
            let writer = Task {
                try await out.write(bytes)
                try await out.finish()
            }
            // A round trip of messages: what fits into the credit has come meanwhile.
            try await within { try await meeting.ann.waitUntilReceived(by: meeting.bob.peer) }
            #expect(try await within { try await stream.all() } == bytes)
            try await within { try await writer.value }
        }
        await meeting.end()
    }

    @Test("breaking out of a loop and starting another loses nothing")
    func interrupted() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        let bytes = MessageTests.pattern(600_000)
        let writer = Task {
            try await out.write(bytes)
            try await out.finish()
        }
        var received: [UInt8] = []
        while received.count < bytes.count {
            for try await piece in stream {
                received += piece
                break
            }
        }
        #expect(received == bytes)
        #expect(try await within { try await stream.all() } == [])
        try await within { try await writer.value }
        await meeting.end()
    }

    @Test("a cancelled task stops waiting, and its stream stays open")
    func cancelledTasks() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        let reading = Task { try await stream.piece() }
        reading.cancel()
        let read = await reading.result
        #expect(throws: MultipeerError(.cancelled, "")) { try read.get() }

        let written = try await out.fill()
        let writing = Task { try await out.write([UInt8](repeating: 7, count: 600_000)) }
        writing.cancel()
        let wrote = await writing.result
        #expect(throws: MultipeerError(.cancelled, "")) { try wrote.get() }
        let finishing = Task { try await out.finish() }
        finishing.cancel()
        _ = await finishing.result
        #expect(try await within { try await stream.all() }.count == written)
        try await within { try await out.finish() }
        await meeting.end()
    }

    private static func send(_ bytes: [UInt8], in size: Int, _ from: Session, _ to: Session) async throws {
        let out = try await from.openStream(to: to.peer, name: "numbers")
        var rest = bytes[...]
        while !rest.isEmpty {
            try await out.write(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try await out.finish()
    }
}

extension Meeting {
    /// A stream from ann to bob, as both have it.
    func stream(_ name: String = "a stream") async throws -> (OutgoingStream, IncomingStream) {
        try await stream(name, from: ann, to: bob)
    }

    func stream(
        _ name: String = "a stream", from: Session, to: Session
    ) async throws -> (OutgoingStream, IncomingStream) {
        let out = try await within { try await from.openStream(to: to.peer, name: name) }
        return (out, try await within { try await to.events.firstStream() })
    }
}

extension Session.Events {
    /// Returns the first stream that a peer opens.
    func firstStream() async throws -> IncomingStream {
        for await event in self {
            if case .stream(let stream) = event { return stream }
        }
        throw Overdue()
    }

    func streams(_ count: Int) async throws -> [IncomingStream] {
        var streams: [IncomingStream] = []
        while streams.count < count { streams.append(try await firstStream()) }
        return streams
    }
}

extension IncomingStream {
    /// Everything up to the end.
    func all() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in self { bytes += piece }
        return bytes
    }

    /// Returns the next piece; nil after the end.
    func piece() async throws -> [UInt8]? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }

    /// How it ends, after how many bytes.
    func ending() async -> (count: Int, error: MultipeerError?) {
        var count = 0
        do throws(MultipeerError) {
            for try await piece in self { count += piece.count }
            return (count, nil)
        } catch {
            return (count, error)
        }
    }
}

extension OutgoingStream {
    /// Writes until a piece would have to wait for a reader that does not read; returns how many bytes were taken.
    func fill() async throws -> Int {
        let piece = [UInt8](repeating: 5, count: 16_384)
        let room = 524_288 + Limits.channelCredit
        for _ in 0..<(room / piece.count) {
            try await within { [self] in try await write(piece) }
        }
        return room
    }

    func writingFailure() async -> MultipeerError? {
        do throws(MultipeerError) {
            while true { try await write([UInt8](repeating: 1, count: 10_000)) }
        } catch {
            return error
        }
    }
}
