/// One parsed frame: its kind, its channel and the contents of its payload. Spec 7.2.
///
/// Messages and channel data have cases too, for tests and tools; a link handles those payloads as bytes,
/// directly from the decoder.
package enum Frame: Equatable, Sendable {
    case hello(Hello)
    case confirm(mac: [UInt8])
    case select
    case selected
    case close(CloseCode, reason: String)
    case ping(UInt64)
    case pong(UInt64)
    case members(Members)
    case datagram(DatagramOffer)
    case message([UInt8])
    case messagePart([UInt8])
    case open(channel: UInt32, ChannelOpening)
    case data(channel: UInt32, [UInt8])
    case fin(channel: UInt32, sha256: [UInt8]?)
    case reset(channel: UInt32, CloseCode)
    case stop(channel: UInt32, CloseCode)
    case credit(channel: UInt32, limit: UInt64)
    case done(channel: UInt32, CloseCode)
    case resume(channel: UInt32, ResumeOffer)
    case begin(channel: UInt32, offset: UInt64)
    case codeRequest
    case codeCommit([UInt8])
    case codeNonce([UInt8])
    case codeReveal([UInt8])
    case codeResult(CloseCode)
    case invite(Invite)
    case answer(Answer)
    case complete(Complete)
    /// One end's part of the exchange that proves a code: the number of the code, and a point of 65 bytes.
    case share(code: UInt16, point: [UInt8])
    case confirmation([UInt8])
    /// A kind of 0x80 or above: only ever written, since the decoder skips it when it is received.
    case ignorable(FrameKind, channel: UInt32, [UInt8])

    /// Parses the whole payload that followed `header`.
    package init(_ header: FrameHeader, _ payload: Span<UInt8>) throws(FramingError) {
        guard header.kind.mayTravel(on: header.channel) else {
            throw header.kind.isKnown
                ? .wrongChannel(header.kind, header.channel) : .unknownKind(header.kind.rawValue)
        }
        guard header.length == payload.count, header.kind.admits(header.length) else {
            throw .wrongLength(header.kind, payload.count)
        }
        if header.kind.isIgnorable {
            self = .ignorable(header.kind, channel: header.channel, [UInt8](copying: payload))
        } else if header.channel == 0 {
            self = try Frame(ofLink: header, payload)
        } else {
            self = try Frame(ofChannel: header, payload)
        }
    }

    private init(ofLink header: FrameHeader, _ payload: Span<UInt8>) throws(FramingError) {
        self =
            switch header.kind {
            case .hello: .hello(try Hello(payload))
            case .confirm: .confirm(mac: [UInt8](copying: payload))
            case .select: .select
            case .selected: .selected
            case .close: try Frame(closing: payload)
            case .ping: .ping(try header.integer(payload))
            case .pong: .pong(try header.integer(payload))
            case .members: .members(try Members(payload))
            case .datagram: .datagram(try DatagramOffer(payload))
            case .message: .message([UInt8](copying: payload))
            case .messagePart: .messagePart([UInt8](copying: payload))
            case .credit: .credit(channel: 0, limit: try header.integer(payload))
            case .codeRequest: .codeRequest
            case .codeCommit: .codeCommit([UInt8](copying: payload))
            case .codeNonce: .codeNonce([UInt8](copying: payload))
            case .codeReveal: .codeReveal([UInt8](copying: payload))
            case .codeResult: .codeResult(try header.code(payload))
            case .invite: .invite(try Invite(payload))
            case .answer: .answer(try Answer(payload))
            case .complete: .complete(try Complete(payload))
            case .share: try Frame(sharing: payload)
            case .confirmation: .confirmation([UInt8](copying: payload))
            default: throw .unknownKind(header.kind.rawValue)
            }
    }

    private init(ofChannel header: FrameHeader, _ payload: Span<UInt8>) throws(FramingError) {
        let channel = header.channel
        self =
            switch header.kind {
            case .open: .open(channel: channel, try ChannelOpening(payload))
            case .data: .data(channel: channel, [UInt8](copying: payload))
            case .fin: .fin(channel: channel, sha256: try Frame.digest(payload))
            case .reset: .reset(channel: channel, try header.code(payload))
            case .stop: .stop(channel: channel, try header.code(payload))
            case .credit: .credit(channel: channel, limit: try header.integer(payload))
            case .done: .done(channel: channel, try header.code(payload))
            case .resume: .resume(channel: channel, try ResumeOffer(payload))
            case .begin: .begin(channel: channel, offset: try header.integer(payload))
            default: throw .unknownKind(header.kind.rawValue)
            }
    }

    private init(closing payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        let code = CloseCode(rawValue: try cursor.integer(in: payload))
        let reason = try cursor.skip(cursor.remaining(in: payload), in: payload)
        self = .close(code, reason: try Text.read(payload.extracting(reason)))  // [close.reason]
    }

    private init(sharing payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        let code: UInt16 = try cursor.integer(in: payload)
        let point = try cursor.skip(cursor.remaining(in: payload), in: payload)
        self = .share(code: code, point: [UInt8](copying: payload.extracting(point)))
    }

    static let finFields = TLVSchema(known: [1])

    private static func digest(_ payload: Span<UInt8>) throws(FramingError) -> [UInt8]? {
        var reader = TLVReader(finFields)
        var digest: [UInt8]?
        while let field = try reader.next(in: payload) { digest = try field.array(32, in: payload) }
        return digest
    }
}

/// The payload's size was checked against the header's kind before these are used.
extension FrameHeader {
    fileprivate func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        _ payload: Span<UInt8>
    ) throws(FramingError) -> Integer {
        var cursor = ByteCursor()
        let value: Integer = try cursor.integer(in: payload)
        try cursor.finish(in: payload)
        return value
    }

    fileprivate func code(_ payload: Span<UInt8>) throws(FramingError) -> CloseCode {
        CloseCode(rawValue: try integer(payload))
    }
}
