/// What a channel will carry, as declared by the end that opens it. Spec 9.
package struct ChannelOpening: Equatable, Sendable {
    package struct Kind: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let stream = Kind(rawValue: 1)
        package static let resource = Kind(rawValue: 2)
    }

    package var kind: Kind
    /// 1 to 1,024 bytes: a label for the application, never a path.
    package var name: String
    /// The size of the resource in bytes, when the opener knows it.
    package var size: UInt64?
    package var metadata: [UInt8]?
    /// Whether FIN will have no digest, so that the receiver need not compute one.
    package var hasNoDigest: Bool

    /// Whether the opener can begin at an offset: it sends nothing before the receiver has named one. For a resource of known
    /// size only.
    package var isResumable: Bool

    package init(
        kind: Kind, name: String, size: UInt64? = nil, metadata: [UInt8]? = nil, hasNoDigest: Bool = false,
        isResumable: Bool = false
    ) {
        self.kind = kind
        self.name = name
        self.size = size
        self.metadata = metadata
        self.hasNoDigest = hasNoDigest
        self.isResumable = isResumable
    }
}

extension ChannelOpening {
    package enum Field {
        package static let kind: UInt16 = 1
        package static let name: UInt16 = 2
        package static let size: UInt16 = 3
        package static let metadata: UInt16 = 4
        package static let resumable: UInt16 = 5
        package static let noDigest: UInt16 = 6

        static let schema = TLVSchema(known: [kind, name, size, metadata, resumable, noDigest])
    }

    init(_ payload: Span<UInt8>) throws(FramingError) {
        var kind: UInt8?
        var name: String?
        var size: UInt64?
        var metadata: [UInt8]?
        var hasNoDigest = false
        var isResumable = false
        var reader = TLVReader(Field.schema)
        while let field = try reader.next(in: payload) {
            switch field.type {
            case Field.kind: kind = try field.integer(in: payload)
            case Field.name: name = try field.text(1...Limits.channelName, in: payload)  // [channel.name]
            case Field.size: size = try field.integer(in: payload)
            case Field.metadata: metadata = try field.array(0...Limits.channelMetadata, in: payload)
            case Field.resumable:
                _ = try field.array(0...0, in: payload)
                isResumable = true
            case Field.noDigest:
                _ = try field.array(0...0, in: payload)
                hasNoDigest = true
            default: break
            }
        }
        let carried = Kind(rawValue: try kind.required(Field.kind))
        self.init(
            kind: carried, name: try name.required(Field.name), size: size, metadata: metadata,
            hasNoDigest: hasNoDigest, isResumable: isResumable)
        guard !isResumable || carried != .stream && size != nil else {  // [resource.resumable]
            throw .wrongFieldValue(Field.resumable)
        }
    }

    /// The size of the payload of OPEN, in bytes.
    package var byteCount: Int {
        let head = 4
        return head + 1 + head + name.utf8.count + (size == nil ? 0 : head + 8)
            + (metadata.map { head + $0.count } ?? 0) + (isResumable ? head : 0) + (hasNoDigest ? head : 0)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.appendField(Field.kind, kind.rawValue)
        buffer.appendField(Field.name, text: name)
        if let size { buffer.appendField(Field.size, size) }
        if let metadata { buffer.appendField(Field.metadata, metadata) }
        if isResumable { buffer.appendField(Field.resumable, length: 0) }
        if hasNoDigest { buffer.appendField(Field.noDigest, length: 0) }
    }
}
