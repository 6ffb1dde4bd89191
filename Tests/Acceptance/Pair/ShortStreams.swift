import MultipeerConnectivity
import MultipeerFigures
import MultipeerTransport

/// Very many streams, one after the other: each is opened, carries a few bytes and is closed, and the next one begins when the
/// reader has read it to its end. No memory, descriptor, thread or stream may remain, at either side.
@MainActor
struct ShortStreams {
    /// The streams that fill caches and pools.
    private static let warmUp = 500
    /// In bytes that are allocated and not freed: for each stream, and for all.
    private static let allowedGrowth = (each: 100, all: 100_000)
    private let companion: Companion
    private let count: Int
    private var allowedGrowth: Int { count * Self.allowedGrowth.each + Self.allowedGrowth.all }

    init(_ companion: Companion, _ count: Int) { (self.companion, self.count) = (companion, count) }

    private static func content(_ number: Int) -> Data { Data("stream \(number)".utf8) }

    func write() async throws -> String {
        let peer = try await companion.connect()
        var answers = companion.events.makeAsyncIterator()
        var account = try Account()
        for number in 0..<(Self.warmUp + count) {
            if number == Self.warmUp { try account.begin() }
            account.add(try write(number, to: peer))
            guard case .message(let answer)? = await answers.next(), answer == Self.content(number) else {
                throw Failure("stream \(number) was not answered")
            }
        }
        return try await account.close(allowedGrowth)
    }

    private func write(_ number: Int, to peer: MCPeerID) throws -> OutputStream {
        let stream = try companion.session.startStream(withName: "\(number)", toPeer: peer)
        stream.open()
        let content = [UInt8](Self.content(number))
        let written = stream.write(content, maxLength: content.count)
        guard written == content.count else { throw Failure("write returned \(written)") }
        stream.close()
        return stream
    }

    func read() async throws -> String {
        let peer = try await companion.connect()
        var events = companion.events.makeAsyncIterator()
        var account = try Account()
        for number in 0..<(Self.warmUp + count) {
            if number == Self.warmUp { try account.begin() }
            guard case .stream(let stream)? = await events.next() else {
                throw Failure("no stream \(number)")
            }
            account.add(stream)
            let content = try await StreamContent.all(of: stream)
            guard content == Self.content(number) else { throw Failure("\(content) in stream \(number)") }
            try companion.session.send(content, toPeers: [peer], with: .reliable)
        }
        return try await account.close(allowedGrowth)
    }
}

/// What a process has before, and after.
private struct Account {
    private struct Weak {
        weak var stream: Stream?
    }

    private var before: Figures
    private var allocated = 0
    private var streams: [Weak] = []
    private var count = 0

    init() throws { before = try Figures() }

    mutating func begin() throws {
        before = try Figures()
        allocated = Heap.allocated
    }

    mutating func add(_ stream: Stream) {
        count += 1
        if streams.count >= 64 { streams.removeAll { $0.stream == nil } }
        streams.append(Weak(stream: stream))
    }

    private var remaining: Int { streams.count { $0.stream != nil } }

    /// Returns the figures, once the last stream had time to end.
    func close(_ allowedGrowth: Int) async throws -> String {
        var after = try Figures()
        let end = Date(timeIntervalSinceNow: 5)
        while remaining > 0 || after.descriptors > before.descriptors, end > Date() {
            try await Task.sleep(for: .milliseconds(10))
            after = try Figures()
        }
        let growth = Heap.allocated - allocated
        let text =
            "\(before) before, \(after) after, \(growth) bytes more, \(remaining) of \(count) streams remain"
        guard remaining == 0, after.descriptors <= before.descriptors, after.threads <= before.threads + 4,
            growth <= allowedGrowth
        else { throw Failure(text) }
        return text
    }
}

/// Reads a stream on the main run loop, as a delegate does.
@MainActor
private final class StreamContent: NSObject, StreamDelegate {
    private let stream: InputStream
    private var data = Data()
    private var continuation: CheckedContinuation<Data, any Error>?

    private init(_ stream: InputStream) { self.stream = stream }

    /// Returns all bytes of a stream, and closes it.
    static func all(of stream: InputStream) async throws -> Data {
        let content = StreamContent(stream)
        stream.delegate = content
        defer { withExtendedLifetime(content) {} }
        return try await withCheckedThrowingContinuation { continuation in
            content.continuation = continuation
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    nonisolated func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        MainActor.assumeIsolated { handle(eventCode) }
    }

    private func handle(_ event: Stream.Event) {
        switch event {
        case .hasBytesAvailable:
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = stream.read(&bytes, maxLength: bytes.count)
            if count > 0 { data.append(contentsOf: bytes.prefix(count)) }
        case .endEncountered: end { $0.resume(returning: $1) }
        case .errorOccurred:
            let error = stream.streamError ?? Failure("the stream failed")
            end { continuation, _ in continuation.resume(throwing: error) }
        default: break
        }
    }

    private func end(_ resume: (CheckedContinuation<Data, any Error>, Data) -> Void) {
        stream.close()
        stream.remove(from: .main, forMode: .default)
        continuation.map { resume($0, data) }
        continuation = nil
    }
}
