/// The kind of a frame. Spec 7.2.
struct FrameKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    init(_ rawValue: UInt8) { self.rawValue = rawValue }

    static let hello = FrameKind(0x01)
    static let confirm = FrameKind(0x02)
    static let select = FrameKind(0x03)
    static let selected = FrameKind(0x04)
    static let close = FrameKind(0x05)
    static let ping = FrameKind(0x06)
    static let pong = FrameKind(0x07)
    static let members = FrameKind(0x08)
    static let datagrams = FrameKind(0x09)
    static let message = FrameKind(0x10)
    static let part = FrameKind(0x11)
    static let open = FrameKind(0x20)
    static let data = FrameKind(0x21)
    static let fin = FrameKind(0x22)
    static let reset = FrameKind(0x23)
    static let stop = FrameKind(0x24)
    static let credit = FrameKind(0x25)
    static let done = FrameKind(0x26)
    static let resume = FrameKind(0x27)
    static let begin = FrameKind(0x28)
    static let codeRequest = FrameKind(0x30)
    static let codeCommit = FrameKind(0x31)
    static let codeNonce = FrameKind(0x32)
    static let codeReveal = FrameKind(0x33)
    static let codeResult = FrameKind(0x34)
    static let invite = FrameKind(0x40)
    static let answer = FrameKind(0x41)
    static let complete = FrameKind(0x42)
    static let share = FrameKind(0x43)
    static let confirmation = FrameKind(0x44)

    /// Whether a receiver that does not know it skips it.
    var isIgnorable: Bool { rawValue >= 0x80 }

    static let names: [FrameKind: String] = [
        hello: "HELLO", confirm: "CONFIRM", select: "SELECT", selected: "SELECTED", close: "CLOSE",
        ping: "PING",
        pong: "PONG", members: "MEMBERS", datagrams: "DGRAM", message: "MSG", part: "MSG_PART", open: "OPEN",
        data: "DATA", fin: "FIN", reset: "RESET", stop: "STOP", credit: "CREDIT", done: "DONE",
        resume: "RESUME", begin: "BEGIN",
        codeRequest: "SAS_REQUEST", codeCommit: "SAS_COMMIT", codeNonce: "SAS_NONCE",
        codeReveal: "SAS_REVEAL", codeResult: "SAS_RESULT",
        invite: "INVITE", answer: "ANSWER", complete: "COMPLETE", share: "SHARE",
        confirmation: "CONFIRMATION",
    ]

    var description: String { FrameKind.names[self] ?? "kind \([rawValue].hex)" }
}

/// One frame: eight bytes of header and a payload. Spec 7.1.
struct Frame: Hashable {
    static let headerCount = 8
    /// The longest payload before the link and on it.
    static let longestBefore = 2_048
    static let longest = 65_536

    var kind: FrameKind
    var channel: UInt32
    var payload: [UInt8]

    init(_ kind: FrameKind, channel: UInt32 = 0, _ payload: [UInt8] = []) {
        self.kind = kind
        self.channel = channel
        self.payload = payload
    }

    init(_ kind: FrameKind, channel: UInt32 = 0, _ body: (inout ByteWriter) -> Void) {
        self.init(kind, channel: channel, ByteWriter.bytes(body))
    }

    /// Returns a header with any values.
    static func header(length: Int, kind: FrameKind, channel: UInt32 = 0) -> [UInt8] {
        ByteWriter.bytes {
            $0.u24(length)
            $0.u8(kind.rawValue)
            $0.u32(channel)
        }
    }

    var bytes: [UInt8] { Frame.header(length: payload.count, kind: kind, channel: channel) + payload }
}

/// Reads frames from a stream of bytes in any pieces.
struct FrameReader {
    private var bytes: [UInt8] = []
    private var position = 0

    mutating func push(_ more: [UInt8]) { bytes += more }

    /// The number of bytes of a frame that is not complete yet.
    var pending: Int { bytes.count - position }

    /// Returns the next frame; nil until it is complete.
    mutating func next() -> Frame? {
        guard pending >= Frame.headerCount else { return nil }
        let header = bytes[position..<(position + Frame.headerCount)].map(\.self)
        let count = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        guard pending >= Frame.headerCount + count else { return nil }
        let channel = header[4...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let start = position + Frame.headerCount
        let frame = Frame(FrameKind(header[3]), channel: channel, Array(bytes[start..<(start + count)]))
        position = start + count
        if position > 1 << 20 {
            bytes.removeFirst(position)
            position = 0
        }
        return frame
    }
}
