extension ByteBuffer {
    /// Appends the 8 bytes of a header; exactly `header.length` bytes of payload must follow.
    @inlinable
    package mutating func appendHeader(_ header: FrameHeader) { append(header.bits) }

    /// Appends a whole frame whose payload is available: one reservation, one copy.
    @inlinable
    package mutating func appendFrame(_ kind: FrameKind, channel: UInt32 = 0, payload: Span<UInt8>) {
        reserve(FrameHeader.byteCount &+ payload.count)
        appendHeader(FrameHeader(kind, channel: channel, length: payload.count))
        append(payload)
    }

    /// Appends a whole frame whose payload `body` appends; the header's length is filled in afterwards.
    package mutating func appendFrame(
        _ kind: FrameKind, channel: UInt32 = 0, _ body: (inout ByteBuffer) -> Void
    ) {
        let start = count
        appendHeader(FrameHeader(kind, channel: channel, length: 0))
        body(&self)
        let length = count - start - FrameHeader.byteCount
        precondition(length <= Limits.frame, "a frame's payload has at most 65,536 bytes")
        for index in 0..<3 {
            replace(at: start + index, with: UInt8(truncatingIfNeeded: length >> (8 * (2 - index))))
        }
    }
}

extension Frame {
    /// Appends the frame, header and payload. The caller must respect the limits that a peer enforces.
    package func encode(into buffer: inout ByteBuffer) {
        switch self {
        case .hello(let hello): hello.encode(into: &buffer)
        case .confirm(let mac): buffer.appendFrame(.confirm, payload: mac.span)
        case .select: buffer.appendFrame(.select) { _ in }
        case .selected: buffer.appendFrame(.selected) { _ in }
        case .close(let code, let reason):
            buffer.appendFrame(.close) {
                $0.append(code.rawValue)
                $0.append(Text.prefix(reason, limit: Limits.closeReason))  // [close.reason]
            }
        case .ping(let token): buffer.appendFrame(.ping) { $0.append(token) }
        case .pong(let token): buffer.appendFrame(.pong) { $0.append(token) }
        case .members(let members): buffer.appendFrame(.members) { members.encode(into: &$0) }
        case .datagram(let offer): buffer.appendFrame(.datagram) { offer.encode(into: &$0) }
        case .message(let bytes): buffer.appendFrame(.message, payload: bytes.span)
        case .messagePart(let bytes): buffer.appendFrame(.messagePart, payload: bytes.span)
        case .codeRequest: buffer.appendFrame(.codeRequest) { _ in }
        case .codeCommit(let bytes): buffer.appendFrame(.codeCommit, payload: bytes.span)
        case .codeNonce(let bytes): buffer.appendFrame(.codeNonce, payload: bytes.span)
        case .codeReveal(let bytes): buffer.appendFrame(.codeReveal, payload: bytes.span)
        case .codeResult(let code): buffer.appendFrame(.codeResult) { $0.append(code.rawValue) }
        case .invite(let invite): buffer.appendFrame(.invite) { invite.encode(into: &$0) }
        case .answer(let answer): buffer.appendFrame(.answer) { answer.encode(into: &$0) }
        case .complete(let complete): buffer.appendFrame(.complete) { complete.encode(into: &$0) }
        case .share(let code, let point):
            buffer.appendFrame(.share) {
                $0.append(code)
                $0.append(point)
            }
        case .confirmation(let bytes): buffer.appendFrame(.confirmation, payload: bytes.span)
        case .ignorable(let kind, let channel, let bytes):
            buffer.appendFrame(kind, channel: channel, payload: bytes.span)
        case .open, .data, .fin, .reset, .stop, .credit, .done, .resume, .begin:
            encodeOfChannel(into: &buffer)
        }
    }

    private func encodeOfChannel(into buffer: inout ByteBuffer) {
        switch self {
        case .open(let channel, let opening):
            buffer.appendFrame(.open, channel: channel) { opening.encode(into: &$0) }
        case .data(let channel, let bytes): buffer.appendFrame(.data, channel: channel, payload: bytes.span)
        case .fin(let channel, let digest):
            buffer.appendFrame(.fin, channel: channel) { if let digest { $0.appendField(1, digest) } }
        case .reset(let channel, let code):
            buffer.appendFrame(.reset, channel: channel) { $0.append(code.rawValue) }
        case .stop(let channel, let code):
            buffer.appendFrame(.stop, channel: channel) { $0.append(code.rawValue) }
        case .credit(let channel, let limit):
            buffer.appendFrame(.credit, channel: channel) { $0.append(limit) }
        case .done(let channel, let code):
            buffer.appendFrame(.done, channel: channel) { $0.append(code.rawValue) }
        case .resume(let channel, let offer):
            buffer.appendFrame(.resume, channel: channel) { offer.encode(into: &$0) }
        case .begin(let channel, let offset):
            buffer.appendFrame(.begin, channel: channel) { $0.append(offset) }
        default: preconditionFailure("not a frame of a channel")
        }
    }
}
