package import MultipeerCore

/// The first frame of each end: the sender's identity, the expected identity of the receiver, and the
/// connection data that the sender holds. Spec 6.2.
package struct Hello: Equatable, Sendable {
    /// At least one version, in any order.
    package var versions: [UInt16]
    package var sender: Endpoint
    package var receiver: Endpoint
    /// SHA-256 of the connection data of the sender that the receiver should hold.
    package var myDataReference: [UInt8]
    /// SHA-256 of the connection data of the receiver that the sender holds.
    package var yourDataReference: [UInt8]
    package var nonce: [UInt8]
    package var limits: LinkLimits
    package var members: [Endpoint]
    /// The sender's program, for people who read traces.
    package var agent: String?

    package init(
        versions: [UInt16], sender: Endpoint, receiver: Endpoint, myDataReference: [UInt8],
        yourDataReference: [UInt8], nonce: [UInt8], limits: LinkLimits = .standard, members: [Endpoint] = [],
        agent: String? = nil
    ) {
        self.versions = versions
        self.sender = sender
        self.receiver = receiver
        self.myDataReference = myDataReference
        self.yourDataReference = yourDataReference
        self.nonce = nonce
        self.limits = limits
        self.members = members
        self.agent = agent
    }
}

extension Hello {
    /// Every minor version that this code speaks; without GREASE values, so that none is ever agreed on.
    /// Spec 17.1.
    package static let spoken: [UInt16] = [1]

    /// The highest version that both ends list; nil if there is none. [hello.version]
    package var version: UInt16? { versions.filter(Hello.spoken.contains).max() }
}

extension Hello {
    /// The types of the fields. Spec 17 defines how new ones are added.
    package enum Field {
        package static let versions: UInt16 = 1
        package static let sender: UInt16 = 2
        package static let receiver: UInt16 = 3
        package static let myDataReference: UInt16 = 4
        package static let yourDataReference: UInt16 = 5
        package static let nonce: UInt16 = 6
        package static let limits: UInt16 = 7
        package static let members: UInt16 = 8
        package static let agent: UInt16 = 9

        static let schema = TLVSchema(known: Array(versions...agent))
    }

    /// Appends the whole frame. A non-nil `grease` adds a field that every receiver must ignore.
    package func encode(into buffer: inout ByteBuffer, grease: UInt64? = nil) {
        buffer.appendFrame(.hello) { frame in
            frame.appendField(Field.versions, length: 2 * versions.count)
            for version in versions { frame.append(version) }
            frame.appendField(Field.sender, length: Endpoint.byteCount)
            frame.append(sender)
            frame.appendField(Field.receiver, length: Endpoint.byteCount)
            frame.append(receiver)
            frame.appendField(Field.myDataReference, myDataReference)
            frame.appendField(Field.yourDataReference, yourDataReference)
            frame.appendField(Field.nonce, nonce)
            frame.appendField(Field.limits, length: LinkLimits.byteCount)
            limits.encode(into: &frame)
            frame.appendField(Field.members, length: 1 + Endpoint.byteCount * members.count)
            frame.append(members)
            if let agent { frame.appendField(Field.agent, Text.prefix(agent, limit: Limits.agent)) }
            if let grease { frame.appendGrease(grease) }  // [tlv.grease]
        }
    }
}

extension Hello {
    package init(_ payload: Span<UInt8>) throws(FramingError) {
        var found = Fields()
        var reader = TLVReader(Field.schema)
        while let field = try reader.next(in: payload) { try found.take(field, in: payload) }
        self = try found.complete()
    }

    /// The fields read so far.
    private struct Fields {
        var versions: [UInt16]?
        var sender: Endpoint?
        var receiver: Endpoint?
        var myDataReference: [UInt8]?
        var yourDataReference: [UInt8]?
        var nonce: [UInt8]?
        var limits: LinkLimits?
        var members: [Endpoint]?
        var agent: String?

        mutating func take(_ field: TLVReader.Field, in bytes: Span<UInt8>) throws(FramingError) {
            switch field.type {
            case Field.versions: versions = try Hello.versions(field, in: bytes)
            case Field.sender: sender = try field.endpoint(in: bytes)
            case Field.receiver: receiver = try field.endpoint(in: bytes)
            case Field.myDataReference: myDataReference = try field.array(32, in: bytes)
            case Field.yourDataReference: yourDataReference = try field.array(32, in: bytes)
            case Field.nonce: nonce = try field.array(32, in: bytes)
            case Field.limits: limits = try Hello.limits(field, in: bytes)
            case Field.members: members = try Hello.members(field, in: bytes)
            case Field.agent: agent = try field.text(0...Limits.agent, in: bytes)
            default: break
            }
        }

        consuming func complete() throws(FramingError) -> Hello {  // [hello.complete]
            Hello(
                versions: try versions.required(Field.versions), sender: try sender.required(Field.sender),
                receiver: try receiver.required(Field.receiver),
                myDataReference: try myDataReference.required(Field.myDataReference),
                yourDataReference: try yourDataReference.required(Field.yourDataReference),
                nonce: try nonce.required(Field.nonce), limits: try limits.required(Field.limits),
                members: try members.required(Field.members), agent: agent)
        }
    }

    private static func versions(
        _ field: TLVReader.Field, in bytes: Span<UInt8>
    ) throws(FramingError) -> [UInt16] {
        guard field.value.count >= 2, field.value.count % 2 == 0 else {
            throw .wrongFieldLength(field.type, field.value.count)
        }
        let value = bytes.extracting(field.value)
        var cursor = ByteCursor()
        var versions: [UInt16] = []
        while cursor.remaining(in: value) > 0 { versions.append(try cursor.integer(in: value)) }
        return versions
    }

    private static func limits(
        _ field: TLVReader.Field, in bytes: Span<UInt8>
    ) throws(FramingError) -> LinkLimits {
        try field.expect(LinkLimits.byteCount)
        let limits = try LinkLimits(bytes.extracting(field.value))
        guard limits.maxMessage >= UInt64(Limits.smallestMaxMessage) else {
            throw .wrongFieldValue(field.type)
        }
        return limits
    }

    private static func members(
        _ field: TLVReader.Field, in bytes: Span<UInt8>
    ) throws(FramingError) -> [Endpoint] {
        let value = bytes.extracting(field.value)
        var cursor = ByteCursor()
        let members = try cursor.endpoints(in: value)
        try cursor.finish(in: value)
        return members
    }
}
