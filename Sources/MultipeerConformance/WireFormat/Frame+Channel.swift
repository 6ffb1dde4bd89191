/// The frames of chapter 9.
extension Frame {
    /// The purpose of a channel. Spec 9.2.
    enum ChannelPurpose {
        static let stream: UInt8 = 1, resource: UInt8 = 2
    }

    /// Types of the entries of OPEN and FIN. Spec 9.2.
    enum Field {
        static let kind: UInt16 = 1, name: UInt16 = 2, size: UInt16 = 3, metadata: UInt16 = 4,
            resumable: UInt16 = 5, noDigest: UInt16 = 6
        static let digest: UInt16 = 1
    }

    /// The longest DATA that a sender sends. Spec 9.7.
    static let longestData = 16_376

    static func open(
        _ channel: UInt32, _ kind: UInt8 = ChannelPurpose.stream, name: [UInt8] = Array("channel".utf8),
        size: UInt64? = nil, isResumable: Bool = false, and more: [TLVEntry] = []
    ) -> Frame {
        var entries = [TLVEntry(Field.kind, [kind]), TLVEntry(Field.name, name)]
        if let size { entries.append(TLVEntry(Field.size) { $0.u64(size) }) }
        if isResumable { entries.append(TLVEntry(Field.resumable, [])) }
        return Frame(.open, channel: channel, (entries + more).sorted.bytes)
    }

    static func data(_ channel: UInt32, _ bytes: [UInt8]) -> Frame { Frame(.data, channel: channel, bytes) }

    static func fin(_ channel: UInt32, digest: [UInt8]? = nil) -> Frame {
        Frame(.fin, channel: channel, digest.map { TLVEntry(Field.digest, $0).bytes } ?? [])
    }

    static func reset(_ channel: UInt32, _ code: CloseCode = .cancelled) -> Frame {
        coded(.reset, channel, code)
    }
    static func stop(_ channel: UInt32, _ code: CloseCode = .cancelled) -> Frame {
        coded(.stop, channel, code)
    }
    static func done(_ channel: UInt32, _ code: CloseCode = .ok) -> Frame { coded(.done, channel, code) }

    static func resume(_ channel: UInt32, _ offset: UInt64, _ digest: [UInt8]) -> Frame {
        Frame(.resume, channel: channel) {
            $0.u64(offset)
            $0.raw(digest)
        }
    }
    static func begin(_ channel: UInt32, _ offset: UInt64) -> Frame {
        Frame(.begin, channel: channel) { $0.u64(offset) }
    }

    /// The offset of RESUME and BEGIN.
    var offset: UInt64? {
        guard [.resume, .begin].contains(kind), payload.count >= 8 else { return nil }
        return payload.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func coded(_ kind: FrameKind, _ channel: UInt32, _ code: CloseCode) -> Frame {
        Frame(kind, channel: channel) { $0.u16(code.rawValue) }
    }
}

/// A received OPEN.
struct OpenFrame {
    let kind: UInt8
    let name: [UInt8]
    let size: UInt64?
    let metadata: [UInt8]?
    let isResumable: Bool

    init(_ frame: Frame) throws(Malformed) {
        let entries = try [TLVEntry].read(
            frame.payload,
            known: [
                Frame.Field.kind, Frame.Field.name, Frame.Field.size, Frame.Field.metadata,
                Frame.Field.resumable, Frame.Field.noDigest,
            ])
        kind = try entries.required(Frame.Field.kind, "KIND", 1)[0]
        name = try entries.required(Frame.Field.name, "NAME")
        guard (1...1_024).contains(name.count), String(validating: name, as: UTF8.self) != nil else {
            throw Malformed("NAME is not 1 to 1,024 bytes of text")
        }
        metadata = entries.first(Frame.Field.metadata)
        guard metadata?.count ?? 0 <= 1_024 else { throw Malformed("METADATA of more than 1,024 bytes") }
        isResumable = entries.first(Frame.Field.resumable) != nil
        if let value = entries.first(Frame.Field.resumable), !value.isEmpty {
            throw Malformed("RESUMABLE has \(value.count) bytes")
        }
        if let value = entries.first(Frame.Field.noDigest), !value.isEmpty {
            throw Malformed("NO_DIGEST has \(value.count) bytes")
        }
        if let value = entries.first(Frame.Field.size) {
            guard value.count == 8 else { throw Malformed("SIZE has \(value.count) bytes") }
            size = value.reduce(0) { $0 << 8 | UInt64($1) }
        } else {
            size = nil
        }
        if isResumable, kind == Frame.ChannelPurpose.stream || size == nil {
            throw Malformed("RESUMABLE of a stream, or without SIZE")
        }
    }
}
