/// INVITE, ANSWER and COMPLETE as their entries. Spec 12.7.
enum InvitationFrames {
    enum Field {
        static let id: UInt16 = 1
        static let inviter: UInt16 = 2, recipient: UInt16 = 3, timeout: UInt16 = 4, context: UInt16 = 5
        /// Of ANSWER.
        static let code: UInt16 = 2
        /// Of ANSWER and COMPLETE.
        static let data: UInt16 = 3
    }
    static let alpn = "mpc-invite/1"
    static let longestContext = 32_768

    static func invite(
        id: [UInt8], from uid: [UInt8], name: [UInt8], to recipient: [UInt8], timeout: UInt32,
        context: [UInt8]?
    ) -> [TLVEntry] {
        let entries = [
            TLVEntry(Field.id, id), TLVEntry(Field.inviter, uid + name), TLVEntry(Field.recipient, recipient),
            TLVEntry(Field.timeout) { $0.u32(timeout) },
        ]
        return entries + (context.map { [TLVEntry(Field.context, $0)] } ?? [])
    }

    static func answer(id: [UInt8], _ code: CloseCode, data: [UInt8]? = nil) -> [TLVEntry] {
        let entries = [TLVEntry(Field.id, id), TLVEntry(Field.code) { $0.u16(code.rawValue) }]
        return entries + (data.map { [TLVEntry(Field.data, $0)] } ?? [])
    }

    static func complete(id: [UInt8], data: [UInt8]) -> [TLVEntry] {
        [TLVEntry(Field.id, id), TLVEntry(Field.data, data)]
    }
}
