/// The invitee's reply: OK with connection data for the inviter, or the reason for a refusal. Spec 12.
package struct Answer: Equatable, Sendable {
    package var id: [UInt8]
    package var code: CloseCode
    package var connectionData: [UInt8]?

    package init(id: [UInt8], code: CloseCode, connectionData: [UInt8]? = nil) {
        self.id = id
        self.code = code
        self.connectionData = connectionData
    }
}

extension Answer {
    package enum Field {
        package static let id: UInt16 = 1
        package static let code: UInt16 = 2
        package static let connectionData: UInt16 = 3

        static let schema = TLVSchema(known: Array(id...connectionData))
    }

    init(_ payload: Span<UInt8>) throws(FramingError) {
        var id: [UInt8]?
        var code: UInt16?
        var connectionData: [UInt8]?
        var reader = TLVReader(Field.schema)
        while let field = try reader.next(in: payload) {
            switch field.type {
            case Field.id: id = try field.array(Invite.idByteCount, in: payload)
            case Field.code: code = try field.integer(in: payload)
            case Field.connectionData:
                connectionData = try field.array(1...Limits.connectionData, in: payload)
            default: break
            }
        }
        self.init(
            id: try id.required(Field.id), code: CloseCode(rawValue: try code.required(Field.code)),
            connectionData: connectionData)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.appendField(Field.id, id)
        buffer.appendField(Field.code, code.rawValue)
        if let connectionData { buffer.appendField(Field.connectionData, connectionData) }
    }
}

/// The inviter's last frame: connection data for the invitee. Spec 12.
package struct Complete: Equatable, Sendable {
    package var id: [UInt8]
    package var connectionData: [UInt8]

    package init(id: [UInt8], connectionData: [UInt8]) {
        self.id = id
        self.connectionData = connectionData
    }
}

extension Complete {
    static let schema = TLVSchema(known: [Answer.Field.id, Answer.Field.connectionData])

    init(_ payload: Span<UInt8>) throws(FramingError) {
        var id: [UInt8]?
        var connectionData: [UInt8]?
        var reader = TLVReader(Complete.schema)
        while let field = try reader.next(in: payload) {
            switch field.type {
            case Answer.Field.id: id = try field.array(Invite.idByteCount, in: payload)
            case Answer.Field.connectionData:
                connectionData = try field.array(1...Limits.connectionData, in: payload)
            default: break
            }
        }
        self.init(
            id: try id.required(Answer.Field.id),
            connectionData: try connectionData.required(Answer.Field.connectionData))
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.appendField(Answer.Field.id, id)
        buffer.appendField(Answer.Field.connectionData, connectionData)
    }
}
