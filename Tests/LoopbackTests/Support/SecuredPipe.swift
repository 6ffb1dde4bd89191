import MultipeerFraming
import MultipeerSecurity
import MultipeerTransport
import TestSupport

/// One connection without a loop, on which a test sends and receives frames.
final class SecuredPipe {
    private let socket: Socket
    private var channel = SecureChannel.plain()
    private var plaintext = ByteBuffer()

    init(_ socket: consuming Socket) { self.socket = socket }

    convenience init(to address: SocketAddress) throws { self.init(try Socket.connecting(to: address)) }

    /// Secures the connection with a channel, whose handshake is over when this returns.
    func secure(_ fresh: consuming SecureChannel) async throws {
        channel = fresh
        while try !channel.handshake() {
            try await write()
            try await read()
        }
        try await write()
    }

    func exportKey(_ label: String) throws -> [UInt8] {
        try channel.exportKey(label: label, context: [], count: 32)
    }

    func say(_ frames: Frame...) async throws { try await say(frames) }

    func say(_ frames: [Frame]) async throws {
        var bytes = ByteBuffer()
        for frame in frames { frame.encode(into: &bytes) }
        try await say(bytes.takeAll())
    }

    func say(_ bytes: [UInt8]) async throws {
        try channel.write(bytes.span)
        try await write()
    }

    func next() async throws -> (FrameHeader, [UInt8]) {
        let start = try await bytes(FrameHeader.byteCount)
        let header = FrameHeader(start.span)
        return (header, try await bytes(header.length))
    }

    /// Waits for the next frame.
    func hear() async throws -> Frame {
        let (header, payload) = try await next()
        return try Frame(header, payload.span)
    }

    /// Waits until the other side has ended the connection.
    func hearEnd() async throws {
        while true {
            do {
                try await read()
            } catch is Ended {
                return
            } catch is SecurityFault {
                continue  // What is sent before the end need not be of this channel.
            }
        }
    }

    /// Sends raw bytes, below the channel.
    func sayBelow(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try await SocketEvent.writable.wait(for: socket.descriptor, milliseconds: 20_000)
            if case .sent(let count) = socket.send(Array(rest).span) { rest = rest.dropFirst(count) }
        }
    }

    /// The other side ended the connection.
    struct Ended: Error {}

    private func bytes(_ count: Int) async throws -> [UInt8] {
        while plaintext.count < count {
            if case .bytes = try channel.read(into: &plaintext, upTo: 65_536) { continue }
            try await read()
        }
        let bytes = plaintext.read { (all: Span<UInt8>) in [UInt8](copying: all.extracting(0..<count)) }
        plaintext.discard(count)
        return bytes
    }

    private func read() async throws {
        var ciphertext = ByteBuffer()
        while true {
            switch socket.receive(into: &ciphertext, upTo: 65_536) {
            case .bytes:
                let bytes = ciphertext.takeAll()
                return try channel.receive(bytes.span)
            case .wouldBlock:
                try await SocketEvent.readable.wait(for: socket.descriptor, milliseconds: 20_000)
            case .endOfStream, .failed: throw Ended()
            }
        }
    }

    private func write() async throws {
        while channel.outputCount > 0 {
            try await SocketEvent.writable.wait(for: socket.descriptor, milliseconds: 20_000)
            channel.withOutput { bytes in
                if case .sent(let count) = socket.send(bytes) { count } else { 0 }
            }
        }
    }
}
