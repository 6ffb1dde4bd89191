/// Splits a stream of bytes, received in arbitrary pieces, into frames. Spec 7.1.
///
/// ```
///   between ──part of a header──▶ header ──the rest──▶ between
///      └──part of a payload──▶ payload ──the rest──▶ between      (skipping: an ignorable kind's payload)
///   any ──a header that is not allowed──▶ refused
/// ```
///
/// A frame that lies whole in the given bytes is lent to the sink without a copy. A frame that arrives in
/// pieces is reassembled here, in one allocation of exactly its length, made only after its header was
/// checked against the sink's limit; at most one frame is buffered.
@usableFromInline
package struct FrameDecoder: ~Copyable, Sendable {
    @usableFromInline
    enum Phase: Sendable {
        case between
        /// The first `count` bytes of a header, as a number.
        case header(UInt64, count: Int)
        /// The payload so far is in `joined`: outside the phase, so that appending does not copy it.
        case payload(FrameHeader)
        /// This many bytes of an ignorable frame are still to come.
        case skipping(Int)
        case refused(FramingError)
    }

    @usableFromInline var phase = Phase.between
    /// Empty in every phase but `payload`.
    @usableFromInline var joined: [UInt8] = []
    /// How many bytes of `joined` lie before the payload.
    @usableFromInline var start = 0

    /// The number of ignored frames: of kinds that version 1 does not know and that may be ignored.
    @usableFromInline package internal(set) var ignoredFrames = 0

    @inlinable package init() {}

    /// Passes every frame that ends in `bytes` to `sink` and returns how many bytes were consumed: all of
    /// them, unless the sink wants no more frames. The caller must pass the remaining bytes again. After an
    /// error every call throws that error.
    @inlinable
    package mutating func decode<Sink: FrameSink & ~Copyable>(
        _ bytes: Span<UInt8>, into sink: inout Sink
    ) throws(FramingError) -> Int {
        var offset = 0
        if case .between = phase {
        } else {
            guard sink.wantsFrames else { return 0 }
            offset = try resume(bytes, into: &sink)
            guard case .between = phase else { return offset }
        }
        while sink.wantsFrames {
            guard bytes.count &- offset >= FrameHeader.byteCount else {
                hold(bytes.extracting(offset..<bytes.count), after: 0, count: 0)
                return bytes.count
            }
            let header = FrameHeader(bytes.extracting(offset..<(offset &+ FrameHeader.byteCount)))
            offset &+= FrameHeader.byteCount
            offset &+= try begin(header, bytes.extracting(offset..<bytes.count), into: &sink)
            guard case .between = phase else { return bytes.count }
        }
        return offset
    }

    /// Checks a header, takes what has arrived of its payload, and returns how many bytes of `rest` were
    /// consumed.
    @inlinable
    mutating func begin<Sink: FrameSink & ~Copyable>(
        _ header: FrameHeader, _ rest: Span<UInt8>, into sink: inout Sink
    ) throws(FramingError) -> Int {
        let limit = sink.frameLimit
        let order = sink.frameContext
        guard header.length <= limit, header.kind.mayTravel(on: header.channel),
            header.kind.admits(header.length),
            order?.allows(header.kind) ?? true
        else { throw refuse(header, limit: limit, order: order) }
        if header.kind.isIgnorable { return skip(header.length, of: rest.count, counting: 1) }
        guard header.length <= rest.count else {
            joined = sink.storage(for: header)
            carry(header, rest)
            return rest.count
        }
        sink.receive(header, rest.extracting(0..<header.length))
        return header.length
    }

    /// Continues the frame in which the previous bytes ended.
    @inlinable
    mutating func resume<Sink: FrameSink & ~Copyable>(
        _ bytes: Span<UInt8>, into sink: inout Sink
    ) throws(FramingError) -> Int {
        switch phase {
        case .between: return 0
        case .refused(let error): throw error
        case .skipping(let count): return skip(count, of: bytes.count, counting: 0)
        case .header(let bits, let count):
            let missing = FrameHeader.byteCount &- count
            guard missing <= bytes.count else {
                hold(bytes, after: bits, count: count)
                return bytes.count
            }
            let header = FrameHeader(bits: FrameHeader.bits(bytes.extracting(0..<missing), after: bits))
            phase = .between
            return missing &+ (try begin(header, bytes.extracting(missing..<bytes.count), into: &sink))
        case .payload(let header):
            guard let (taken, whole) = join(bytes, upTo: header.length) else { return bytes.count }
            if start == 0 {
                sink.receive(header, owning: whole)
            } else {
                sink.receive(header, stored: whole, after: start)
            }
            return taken
        }
    }
}

/// A long payload may be received in place.
extension FrameDecoder {
    /// The number of bytes that are missing of a payload that arrives in pieces, if it is long enough that copying it counts;
    /// otherwise 0.
    package var missingBytes: Int {
        if case .payload(let header) = phase, header.length >= Self.longPayload {
            return header.length - (joined.count - start)
        }
        return 0
    }

    /// Lends the payload so far, which has room for the missing bytes. `body` appends at most that many; when none is missing
    /// any longer, the next call of `decode` passes the frame on.
    package mutating func fillPayload<Result: ~Copyable, Failure: Error>(
        _ body: (inout [UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let before = (count: joined.count, missing: missingBytes)
        defer {
            let added = joined.count - before.count
            precondition(
                added >= 0 && added <= before.missing, "a payload was filled with more than is missing")
        }
        return try body(&joined)
    }

    private static let longPayload = 32_768
}

/// The slow paths: a frame that arrives in pieces, is ignored or is refused.
extension FrameDecoder {
    @usableFromInline
    mutating func hold(_ bytes: Span<UInt8>, after bits: UInt64, count: Int) {
        let held = count + bytes.count
        if held > 0 { phase = .header(FrameHeader.bits(bytes, after: bits), count: held) }
    }

    @usableFromInline
    mutating func carry(_ header: FrameHeader, _ start: Span<UInt8>) {
        self.start = joined.count
        if joined.isEmpty { joined.reserveCapacity(header.length) }
        joined.append(copying: start)
        phase = .payload(header)
    }

    /// Appends to the partial payload; once it is complete, returns it and how many bytes of `bytes` were
    /// consumed.
    @usableFromInline
    mutating func join(_ bytes: Span<UInt8>, upTo length: Int) -> (taken: Int, whole: [UInt8])? {
        let missing = length - (joined.count - start)
        let taken = min(missing, bytes.count)
        joined.append(copying: bytes.extracting(0..<taken))
        guard taken == missing else { return nil }
        phase = .between
        var whole: [UInt8] = []
        swap(&whole, &joined)
        return (taken, whole)
    }

    @usableFromInline
    mutating func skip(_ length: Int, of available: Int, counting frames: Int) -> Int {  // [frame.ignorable]
        ignoredFrames += frames
        let taken = min(length, available)
        phase = taken == length ? .between : .skipping(length - taken)
        return taken
    }

    @usableFromInline
    mutating func refuse(_ header: FrameHeader, limit: Int, order: FrameContext?) -> FramingError {
        let error: FramingError =
            if header.length > limit {  // [frame.limit] [frame.limit-before]
                .frameTooLong(header.length, limit: limit)
            } else if !header.kind.isKnown && !header.kind.isIgnorable {  // [frame.unknown]
                .unknownKind(header.kind.rawValue)
            } else if let order, !order.allows(header.kind) {
                .unexpectedKind(header.kind)
            } else if !header.kind.mayTravel(on: header.channel) {
                .wrongChannel(header.kind, header.channel)
            } else {
                .wrongLength(header.kind, header.length)
            }
        phase = .refused(error)
        return error
    }
}
