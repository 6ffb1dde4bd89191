extension Frame {
    static let select = Frame(.select)
    static let selected = Frame(.selected)

    static func close(_ code: CloseCode, reason: String = "") -> Frame {
        Frame(.close) {
            $0.u16(code.rawValue)
            $0.raw(reason.utf8)
        }
    }

    static func ping(_ opaque: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) -> Frame { Frame(.ping, opaque) }
    static func pong(_ opaque: [UInt8]) -> Frame { Frame(.pong, opaque) }
    static func message(_ bytes: [UInt8]) -> Frame { Frame(.message, bytes) }
    static func part(_ bytes: [UInt8]) -> Frame { Frame(.part, bytes) }

    static func credit(_ limit: UInt64, channel: UInt32 = 0) -> Frame {
        Frame(.credit, channel: channel) { $0.u64(limit) }
    }

    /// Returns the frames of a message: parts of `piece` bytes, and MSG with the rest.
    static func message(_ bytes: [UInt8], piece: Int) -> [Frame] {
        var frames: [Frame] = []
        var start = 0
        while bytes.count - start > piece {
            frames.append(.part(Array(bytes[start..<(start + piece)])))
            start += piece
        }
        return frames + [.message(Array(bytes[start...]))]
    }

    /// The cost of the frame in message credit: its payload and 64 bytes, for OPEN its payload and 1,024. Spec 8.3.
    var cost: UInt64 {
        switch kind {
        case .message, .part: UInt64(payload.count) + 64
        case .open: UInt64(payload.count) + 1_024
        default: 0
        }
    }

    /// The code of CLOSE, RESET, STOP and DONE.
    var code: CloseCode? {
        guard [.close, .reset, .stop, .done].contains(kind), payload.count >= 2 else { return nil }
        return CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    }

    /// The limit of CREDIT.
    var limit: UInt64? {
        guard kind == .credit, payload.count == 8 else { return nil }
        return payload.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
