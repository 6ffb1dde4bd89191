import MultipeerCore
import MultipeerFraming
import TestSupport

/// One example of everything that can be sent.
enum Samples {
    static let ann = Endpoint(uid: UID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10), instance: 7)
    static let bob = Endpoint(uid: UID(high: 0xFFFE_FDFC_FBFA_F9F8, low: 1), instance: .max)

    static let hello = Hello(
        versions: [1, 0x2A2A], sender: ann, receiver: bob, myDataReference: [UInt8](repeating: 1, count: 32),
        yourDataReference: [UInt8](repeating: 2, count: 32), nonce: [UInt8](repeating: 3, count: 32),
        members: [ann, bob], agent: "tests/1")

    static let invite = Invite(
        id: [UInt8](1...16), inviter: ann.uid, inviterName: "Ann", recipient: bob.uid, timeout: 30,
        context: [9, 8, 7])

    static let frames: [Frame] = [
        .hello(hello), .confirm(mac: [UInt8](repeating: 4, count: 32)), .select, .selected,
        .close(.goodbye, reason: "see you"), .close(.ok, reason: ""), .ping(1), .pong(.max),
        .members(Members(origin: bob, sequence: 9, members: [ann], blob: [1, 2, 3])),
        .members(Members(origin: bob, sequence: .max, members: [])),
        .members(
            Members(
                origin: ann, sequence: 1, members: [bob], blob: [4], certificate: [5, 6],
                signature: [7, 8, 9])),
        .datagram(DatagramOffer(association: 0x0102, port: 65_535, flags: 1)), .message([]),
        .message([1, 2, 3]),
        .messagePart([UInt8](repeating: 5, count: 1_024)),
        .open(channel: 1, ChannelOpening(kind: .stream, name: "s")),
        .open(
            channel: .max, ChannelOpening(kind: .resource, name: "file.txt", size: 1 << 40, metadata: [])),
        .data(channel: 2, [0xFF]), .fin(channel: 2, sha256: nil),
        .fin(channel: 3, sha256: [UInt8](repeating: 6, count: 32)), .reset(channel: 4, .cancelled),
        .stop(channel: 5, .noSpace), .credit(channel: 0, limit: 1 << 33), .credit(channel: 6, limit: 0),
        .done(channel: 7, .ok),
        .resume(channel: 7, ResumeOffer(offset: 1 << 40, sha256: [UInt8](repeating: 3, count: 32))),
        .begin(channel: 7, offset: 1 << 40),
        .codeRequest, .codeCommit([UInt8](repeating: 7, count: 32)),
        .codeNonce([UInt8](repeating: 8, count: 32)), .codeReveal([UInt8](repeating: 9, count: 32)),
        .codeResult(.ok),
        .invite(invite), .answer(Answer(id: [UInt8](1...16), code: .ok, connectionData: [1])),
        .answer(Answer(id: [UInt8](1...16), code: .declined)),
        .complete(Complete(id: [UInt8](1...16), connectionData: [2])),
        .share(code: 999, point: [UInt8](repeating: 10, count: 65)),
        .confirmation([UInt8](repeating: 11, count: 32)),
    ]

    static func bytes(_ frame: Frame) -> [UInt8] { bytes([frame]) }

    static func bytes(_ frames: [Frame]) -> [UInt8] {
        var buffer = ByteBuffer()
        for frame in frames { frame.encode(into: &buffer) }
        return buffer.takeAll()
    }

    /// A header and whatever payload, right or wrong.
    static func raw(_ kind: UInt8, channel: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.appendFrame(FrameKind(rawValue: kind), channel: channel, payload: payload.span)
        return buffer.takeAll()
    }
}

/// Keeps what the decoder hands over.
struct Collector: FrameSink {
    struct Piece: Equatable {
        var header: FrameHeader
        var payload: [UInt8]
    }

    var frameLimit = Limits.frame
    /// The number of frames that it still accepts.
    var appetite = Int.max
    var pieces: [Piece] = []
    /// How many of them came joined.
    var joined = 0
    var wantsFrames: Bool { appetite > 0 }

    mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
        pieces.append(Piece(header: header, payload: [UInt8](copying: payload)))
        appetite -= 1
    }

    mutating func receive(_ header: FrameHeader, owning payload: consuming [UInt8]) {
        pieces.append(Piece(header: header, payload: payload))
        appetite -= 1
        joined += 1
    }

    /// The same, understood.
    func frames() throws -> [Frame] {
        try pieces.map { try Frame($0.header, $0.payload.span) }
    }
}

/// Decodes the only frame in `bytes`.
func decode(_ bytes: [UInt8], limit: Int = Limits.frame) throws(FramingError) -> Frame? {
    var decoder = FrameDecoder()
    var sink = Collector()
    sink.frameLimit = limit
    _ = try decoder.decode(bytes.span, into: &sink)
    guard let piece = sink.pieces.first else { return nil }
    return try Frame(piece.header, piece.payload.span)
}

/// The error that decoding `bytes` ends in.
func fault(_ bytes: [UInt8], limit: Int = Limits.frame) -> FramingError? {
    do throws(FramingError) {
        _ = try decode(bytes, limit: limit)
        return nil
    } catch {
        return error
    }
}
