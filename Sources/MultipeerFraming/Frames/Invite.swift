package import MultipeerCore

/// The first frame of an invitation: the inviter, the invitee, and the timeout. Spec 12.
package struct Invite: Equatable, Sendable {
    /// 16 random bytes that the other frames of the invitation repeat.
    package var id: [UInt8]
    package var inviter: UID
    package var inviterName: String
    package var recipient: UID
    /// How long the inviter waits, in seconds.
    package var timeout: UInt32
    /// The application's own data for the invitee; nil and empty are different.
    package var context: [UInt8]?

    package init(
        id: [UInt8], inviter: UID, inviterName: String, recipient: UID, timeout: UInt32,
        context: [UInt8]? = nil
    ) {
        self.id = id
        self.inviter = inviter
        self.inviterName = inviterName
        self.recipient = recipient
        self.timeout = timeout
        self.context = context
    }

    package static let idByteCount = 16
}

extension Invite {
    package enum Field {
        package static let id: UInt16 = 1
        package static let inviter: UInt16 = 2
        package static let recipient: UInt16 = 3
        package static let timeout: UInt16 = 4
        package static let context: UInt16 = 5

        static let schema = TLVSchema(known: Array(id...context))
    }

    init(_ payload: Span<UInt8>) throws(FramingError) {
        var id: [UInt8]?
        var inviter: (uid: UID, name: String)?
        var recipient: UID?
        var timeout: UInt32?
        var context: [UInt8]?
        var reader = TLVReader(Field.schema)
        while let field = try reader.next(in: payload) {
            switch field.type {
            case Field.id: id = try field.array(Invite.idByteCount, in: payload)
            case Field.inviter: inviter = try field.peer(in: payload)
            case Field.recipient: recipient = try field.uid(in: payload)
            case Field.timeout: timeout = try field.integer(in: payload)
            case Field.context: context = try field.array(0...Limits.invitationContext, in: payload)
            default: break
            }
        }
        let from = try inviter.required(Field.inviter)
        self.init(
            id: try id.required(Field.id), inviter: from.uid, inviterName: from.name,
            recipient: try recipient.required(Field.recipient), timeout: try timeout.required(Field.timeout),
            context: context)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.appendField(Field.id, id)
        buffer.appendField(Field.inviter, uid: inviter, name: inviterName)
        buffer.appendField(Field.recipient, length: UID.byteCount)
        buffer.append(recipient)
        buffer.appendField(Field.timeout, timeout)
        if let context { buffer.appendField(Field.context, context) }
    }
}

extension TLVReader.Field {
    /// Reads the value as a uid followed by a display name.
    package func peer(in bytes: Span<UInt8>) throws(FramingError) -> (uid: UID, name: String) {
        let container = bytes.extracting(value)
        guard container.count > UID.byteCount else { throw .wrongFieldLength(type, container.count) }
        var cursor = ByteCursor()
        let uid = try cursor.uid(in: container)
        let name = try cursor.skip(cursor.remaining(in: container), in: container)
        return (uid, try DisplayName.read(container.extracting(name)))
    }
}

extension ByteBuffer {
    package mutating func appendField(_ type: UInt16, uid: UID, name: String) {
        let text = Array(name.utf8)
        appendField(type, length: UID.byteCount + text.count)
        append(uid)
        append(text)
    }
}
