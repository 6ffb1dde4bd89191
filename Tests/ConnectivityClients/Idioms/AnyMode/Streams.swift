import MultipeerConnectivity

// Byte streams: opening, scheduling, reading and writing.

// idiom: a received stream is kept, scheduled on the main run loop, and opened

final class StreamReceiver: SilentSessionDelegate, StreamDelegate {
    private var input: InputStream?
    private(set) var received = Data()

    override func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        input = stream
        stream.delegate = self
        stream.schedule(in: .main, forMode: .default)
        stream.open()
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard eventCode == .hasBytesAvailable, let input = aStream as? InputStream else { return }
        received += input.available()
    }
}

// idiom: all available bytes are read into a buffer

extension InputStream {
    func available(atOnce size: Int = 4096) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: size)
        while hasBytesAvailable {
            let count = read(&buffer, maxLength: size)
            guard count > 0 else { break }
            data.append(buffer, count: count)
        }
        return data
    }
}

// idiom: a switch over the events of a stream

final class StreamLog: NSObject, StreamDelegate {
    private(set) var events: [String] = []

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        switch eventCode {
        case .openCompleted: events.append("open")
        case .hasBytesAvailable: events.append("bytes")
        case .hasSpaceAvailable: events.append("space")
        case .errorOccurred: events.append(aStream.streamError?.localizedDescription ?? "error")
        case .endEncountered:
            aStream.close()
            aStream.remove(from: .current, forMode: .default)
        default: break
        }
    }
}

// idiom: one output stream for each peer, opened on first use

final class StreamSender {
    private let session: MCSession
    private var streams: [MCPeerID: OutputStream] = [:]

    init(session: MCSession) { self.session = session }

    func stream(to peer: MCPeerID) throws -> OutputStream {
        if let stream = streams[peer] { return stream }
        let stream = try session.startStream(withName: "data-\(UUID().uuidString)", toPeer: peer)
        stream.schedule(in: RunLoop.main, forMode: RunLoop.Mode.common)
        stream.open()
        streams[peer] = stream
        return stream
    }

    func closeAll() {
        streams.values.forEach { $0.close() }
        streams.removeAll()
    }
}

// idiom: data is written until the stream has accepted all of it

extension OutputStream {
    func writeAll(_ data: Data) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map { write($0, maxLength: bytes.count) } ?? 0
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

// idiom: a queue of bytes that is written whenever there is space

final class BufferedWriter: NSObject, StreamDelegate {
    private let output: OutputStream
    private var pending: [UInt8] = []

    init(_ output: OutputStream) {
        self.output = output
        super.init()
        output.delegate = self
    }

    func enqueue(_ bytes: [UInt8]) {
        pending += bytes
        drain()
    }

    private func drain() {
        while output.hasSpaceAvailable, !pending.isEmpty {
            let count = output.write(pending, maxLength: pending.count)
            guard count > 0 else { return }
            pending.removeFirst(count)
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        if eventCode.contains(.hasSpaceAvailable) { drain() }
    }
}

// idiom: frames with a length prefix

struct FrameReader {
    private var buffer = Data()

    mutating func add(_ bytes: Data) -> [Data] {
        buffer += bytes
        var frames: [Data] = []
        while buffer.count >= 4 {
            let length = buffer.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard buffer.count >= 4 + length else { break }
            frames.append(Data(buffer.dropFirst(4).prefix(length)))
            buffer = Data(buffer.dropFirst(4 + length))
        }
        return frames
    }
}

// idiom: reading with blocking calls, without a run loop

func readToEnd(_ stream: InputStream) throws -> Data {
    stream.open()
    defer { stream.close() }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
        let count = stream.read(&buffer, maxLength: buffer.count)
        if count < 0 { throw stream.streamError ?? MCError(.unknown) }
        if count == 0 { return data }
        data.append(contentsOf: buffer[..<count])
    }
}

// idiom: the name of a stream selects its use

final class StreamsByName: SilentSessionDelegate {
    private(set) var audio: [MCPeerID: InputStream] = [:]
    private(set) var others: [String: InputStream] = [:]

    override func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        switch streamName {
        case "audio": audio[peerID] = stream
        case let name where name.hasPrefix("log-"): others[name] = stream
        default: stream.close()
        }
    }
}

// idiom: the status and the error of a stream

func isBroken(_ stream: Stream) -> Bool {
    if let error = stream.streamError as? MCError, error.code == .notConnected { return true }
    return stream.streamStatus == .error || stream.streamStatus == .closed
}
