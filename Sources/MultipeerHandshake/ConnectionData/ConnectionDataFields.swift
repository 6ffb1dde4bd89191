import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// The fields of connection data and their bytes. Spec 4.1.
///
/// `"MPCD" | version u8 | flags u8 | length u16 | fields | SHA-256(all before)[0..<8]`
package struct ConnectionDataFields: Sendable {
    let peer: PeerID
    let instance: UInt64
    let preference: EncryptionPreference
    let fingerprint: Fingerprint?
    let token: [UInt8]
    let lifetime: UInt32
    let recipient: UID?
    let candidates: [Candidate]
    let flags: ConnectionData.Flags

    private static let magic = Array("MPCD".utf8)
    private static let head = 8
    private static let checksum = 8
    private static let tokenCount = 32
    private static let fingerprintAlgorithm: UInt8 = 1

    private enum Field {
        static let peer: UInt16 = 1
        static let instance: UInt16 = 2
        static let preference: UInt16 = 3
        static let fingerprint: UInt16 = 4
        static let token: UInt16 = 5
        static let lifetime: UInt16 = 6
        static let recipient: UInt16 = 8
        static let candidate: UInt16 = 0x10
        static let schema = TLVSchema(
            known: [peer, instance, preference, fingerprint, token, lifetime, recipient, candidate],
            repeatable: [candidate])
    }

    /// Encodes the fields, with an additional one that readers must ignore when `grease` is not nil.
    /// [tlv.grease]
    package func encoded(grease: UInt64?) throws(InvalidConnectionData) -> [UInt8] {
        guard (1...Limits.candidates).contains(candidates.count) else { throw .candidates }
        var fields = ByteBuffer()
        fields.appendField(Field.peer, peer.field)
        fields.appendField(Field.instance, instance)
        fields.appendField(Field.preference, preference.rawValue)
        if let fingerprint {
            fields.appendField(
                Field.fingerprint, [ConnectionDataFields.fingerprintAlgorithm] + fingerprint.bytes)
        }
        fields.appendField(Field.token, token)
        fields.appendField(Field.lifetime, lifetime)
        if let recipient { fields.appendField(Field.recipient, recipient.bytes) }
        for candidate in candidates {
            let family: UInt8 = candidate.address.count == 4 ? 4 : 6
            let port = [UInt8(candidate.port >> 8), UInt8(truncatingIfNeeded: candidate.port)]
            fields.appendField(Field.candidate, [family] + port + candidate.address)
        }
        if let grease { fields.appendGrease(grease) }
        let count = ConnectionDataFields.head + fields.count + ConnectionDataFields.checksum
        guard count <= Limits.connectionData else { throw .size(count) }
        var data = ByteBuffer(capacity: count)
        data.append(ConnectionDataFields.magic)
        data.append(UInt8(1))
        data.append(flags.rawValue)
        data.append(UInt16(truncatingIfNeeded: count))
        data.append(fields.takeAll())
        var bytes = data.takeAll()
        bytes += SHA256.hash(bytes).prefix(ConnectionDataFields.checksum)
        return bytes
    }
}

extension ConnectionDataFields {
    /// Decodes; throws the first of the numbered checks that fails.
    package init(decoding bytes: [UInt8]) throws(InvalidConnectionData) {
        // [data.length]
        guard (24...Limits.connectionData).contains(bytes.count) else { throw .size(bytes.count) }
        guard bytes.starts(with: ConnectionDataFields.magic) else { throw .magic }  // [data.magic]
        guard bytes[4] == 1 else { throw .version(bytes[4]) }  // [data.version]
        let stated = Int(bytes[6]) << 8 | Int(bytes[7])
        // [data.length]
        guard stated == bytes.count else { throw .length(stated: stated, actual: bytes.count) }
        let checked = Array(bytes.dropLast(ConnectionDataFields.checksum))
        guard
            Array(SHA256.hash(checked).prefix(ConnectionDataFields.checksum))
                == Array(bytes.suffix(ConnectionDataFields.checksum))
        else { throw .checksum }  // [data.checksum]
        let values = try ConnectionDataFields.values(Array(checked.dropFirst(ConnectionDataFields.head)))
        flags = ConnectionData.Flags(rawValue: bytes[5])  // [data.flags]
        peer = try ConnectionDataFields.peer(values[Field.peer]?.first)
        instance = try ConnectionDataFields.instance(values[Field.instance]?.first)
        preference = try ConnectionDataFields.preference(values[Field.preference]?.first)
        fingerprint = try ConnectionDataFields.fingerprint(values[Field.fingerprint]?.first, with: preference)
        guard !peer.uid.isKeyed || flags.contains(.identity) && fingerprint != nil else {
            throw .keyed  // [data.keyed]
        }
        token = try ConnectionDataFields.token(values[Field.token]?.first)
        lifetime = try ConnectionDataFields.lifetime(values[Field.lifetime]?.first)
        recipient = try ConnectionDataFields.recipient(values[Field.recipient]?.first)
        candidates = try ConnectionDataFields.candidates(values[Field.candidate] ?? [])
    }

    private static func values(_ container: [UInt8]) throws(InvalidConnectionData) -> [UInt16: [[UInt8]]] {
        var reader = TLVReader(Field.schema)
        var values: [UInt16: [[UInt8]]] = [:]
        do throws(FramingError) {
            while let field = try reader.next(in: container.span) {
                values[field.type, default: []].append(Array(container[field.value]))
            }
        } catch {
            throw .fields
        }
        return values
    }

    private static func peer(_ value: [UInt8]?) throws(InvalidConnectionData) -> PeerID {  // [data.peer]
        do throws(InvalidPeerID) {
            return try PeerID(parsingField: value ?? [])
        } catch {
            throw .peer
        }
    }

    private static func instance(_ value: [UInt8]?) throws(InvalidConnectionData) -> UInt64 {
        guard let value, value.count == 8 else { throw .instance }  // [data.instance]
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func preference(_ value: [UInt8]?) throws(InvalidConnectionData) -> EncryptionPreference {
        guard let value, value.count == 1, let preference = EncryptionPreference(rawValue: value[0]) else {
            throw .preference  // [data.preference]
        }
        return preference
    }

    private static func fingerprint(
        _ value: [UInt8]?, with preference: EncryptionPreference
    ) throws(InvalidConnectionData) -> Fingerprint? {
        guard (value == nil) == (preference == .none) else { throw .fingerprint }  // [data.fingerprint]
        guard let value else { return nil }
        guard value.first == fingerprintAlgorithm, let fingerprint = Fingerprint(Array(value.dropFirst()))
        else {
            throw .fingerprint
        }
        return fingerprint
    }

    private static func token(_ value: [UInt8]?) throws(InvalidConnectionData) -> [UInt8] {
        guard let value, value.count == tokenCount else { throw .token }  // [data.token]
        return value
    }

    private static func lifetime(_ value: [UInt8]?) throws(InvalidConnectionData) -> UInt32 {
        guard let value, value.count == 4 else { throw .lifetime }  // [data.lifetime]
        return value.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func recipient(_ value: [UInt8]?) throws(InvalidConnectionData) -> UID? {
        guard let value else { return nil }
        guard let uid = UID(value) else { throw .recipient }
        return uid
    }

    private static func candidates(_ values: [[UInt8]]) throws(InvalidConnectionData) -> [Candidate] {
        guard (1...Limits.candidates).contains(values.count) else { throw .candidates }  // [data.candidates]
        var candidates: [Candidate] = []
        for value in values {
            guard value.count == 7 && value[0] == 4 || value.count == 19 && value[0] == 6 else {
                throw .candidates
            }
            let port = UInt16(value[1]) << 8 | UInt16(value[2])
            guard let candidate = Candidate(address: Array(value.dropFirst(3)), port: port) else {
                throw .candidates
            }
            candidates.append(candidate)
        }
        return candidates
    }
}
