import MultipeerSecurity

/// What an end is ready to receive. Spec 6.2, entry LIMITS.
struct Limits: Hashable {
    var message: UInt64 = 16_777_216
    var channels: UInt32 = 64
    var channelCredit: UInt32 = 262_144
    var messageCredit: UInt32 = 4_194_304

    var bytes: [UInt8] {
        ByteWriter.bytes {
            $0.u64(message)
            $0.u32(channels)
            $0.u32(channelCredit)
            $0.u32(messageCredit)
        }
    }
}

/// HELLO as its entries, so that each can be left out or made wrong. Spec 6.2.
struct Hello {
    enum Field {
        static let versions: UInt16 = 1, sender: UInt16 = 2, receiver: UInt16 = 3, myData: UInt16 = 4
        static let yourData: UInt16 = 5, nonce: UInt16 = 6, limits: UInt16 = 7, members: UInt16 = 8
        static let agent: UInt16 = 9
        static let mandatory: [UInt16] = [
            versions, sender, receiver, myData, yourData, nonce, limits, members,
        ]
    }

    var entries: [TLVEntry]

    init(
        versions: [UInt16] = [1], sender: Endpoint, receiver: Endpoint, myData: [UInt8], yourData: [UInt8],
        nonce: [UInt8], limits: Limits = Limits(), members: [Endpoint] = []
    ) {
        entries = [
            TLVEntry(Field.versions) { writer in versions.forEach { writer.u16($0) } },
            TLVEntry(Field.sender, sender.bytes), TLVEntry(Field.receiver, receiver.bytes),
            TLVEntry(Field.myData, myData), TLVEntry(Field.yourData, yourData), TLVEntry(Field.nonce, nonce),
            TLVEntry(Field.limits, limits.bytes),
            TLVEntry(Field.members, [UInt8(members.count)] + members.flatMap(\.bytes)),
        ]
    }

    /// Reads a payload, with checks 2 and 3 of 6.2.
    init(payload: [UInt8]) throws(Malformed) {
        entries = try [TLVEntry].read(payload, known: Set(Field.mandatory + [Field.agent]))
        let versions = try entries.required(Field.versions, "VERSIONS")
        guard (2...2_040).contains(versions.count), versions.count % 2 == 0 else {
            throw Malformed("VERSIONS has \(versions.count) bytes")
        }
        _ = try Endpoint(try entries.required(Field.sender, "SENDER"))
        _ = try Endpoint(try entries.required(Field.receiver, "RECEIVER"))
        for (type, name) in [(Field.myData, "MY_DATA_REF"), (Field.yourData, "YOUR_DATA_REF")] {
            _ = try entries.required(type, name, 32)
        }
        _ = try entries.required(Field.nonce, "NONCE", 32)
        _ = try entries.required(Field.limits, "LIMITS", 20)
        let members = try entries.required(Field.members, "MEMBERS")
        guard let count = members.first, count <= 32, members.count == 1 + 24 * Int(count) else {
            throw Malformed("MEMBERS: length and count differ")
        }
        if let agent = entries.first(Field.agent) {
            guard agent.count <= 64, String(validating: agent, as: UTF8.self) != nil else {
                throw Malformed("AGENT is not 64 bytes of text")
            }
        }
    }

    var frame: Frame { Frame(.hello, entries.bytes) }

    mutating func set(_ type: UInt16, _ value: [UInt8]) { entries = entries.with(type, value) }
    mutating func drop(_ type: UInt16) { entries = entries.without(type) }

    var versions: [UInt16] {
        let bytes = entries.first(Field.versions) ?? []
        return stride(from: 0, to: bytes.count - 1, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
    }
    var sender: [UInt8] { entries.first(Field.sender) ?? [] }
    var receiver: [UInt8] { entries.first(Field.receiver) ?? [] }
    var myData: [UInt8] { entries.first(Field.myData) ?? [] }
    var yourData: [UInt8] { entries.first(Field.yourData) ?? [] }
    var nonce: [UInt8] { entries.first(Field.nonce) ?? [] }
    var members: [[UInt8]] {
        let bytes = entries.first(Field.members) ?? [0]
        return stride(from: 1, to: bytes.count, by: 24).map { Array(bytes[$0..<min($0 + 24, bytes.count)]) }
    }
    var limits: Limits {
        var reader = ByteReader(entries.first(Field.limits) ?? [])
        guard let message = try? reader.u64(), let channels = try? reader.u32(),
            let channel = try? reader.u32(), let credit = try? reader.u32()
        else { return Limits(message: 0, channels: 0, channelCredit: 0, messageCredit: 0) }
        return Limits(message: message, channels: channels, channelCredit: channel, messageCredit: credit)
    }
}

/// The key whose knowledge CONFIRM proves. Spec 6.3.
struct LinkKey {
    /// The end that sends the CONFIRM.
    enum Role: Sendable {
        case initiator, responder
        var letter: UInt8 { self == .initiator ? UInt8(ascii: "I") : UInt8(ascii: "R") }
        var other: Role { self == .initiator ? .responder : .initiator }
    }

    let key: [UInt8]
    let transcript: [UInt8]
    let binding: [UInt8]

    /// * `hellos`: both frames with their headers, the initiator's first.
    /// * `tokens`: of the initiator's data, then of the responder's.
    init(hellos: ([UInt8], [UInt8]), tokens: ([UInt8], [UInt8]), binding: [UInt8]) {
        transcript = SHA256.hash(hellos.0 + hellos.1)
        key = HMAC.sha256(key: Array("MPC/1 link".utf8), tokens.0 + tokens.1)
        self.binding = binding
    }

    func mac(_ role: Role) -> [UInt8] { HMAC.sha256(key: key, [role.letter] + transcript + binding) }
}
