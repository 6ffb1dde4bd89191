import MultipeerSecurity

/// Where a peer listens. Spec 4.1, entry CANDIDATE.
struct Candidate: Hashable, Sendable {
    var address: [UInt8]
    var port: UInt16
    /// The interface of a link-local address, which is never sent.
    var zone: UInt32 = 0

    /// Returns a candidate at 127.0.0.1.
    static func loopback(_ port: UInt16) -> Candidate { Candidate(address: [127, 0, 0, 1], port: port) }

    var bytes: [UInt8] {
        ByteWriter.bytes {
            $0.u8(address.count == 4 ? 4 : 6)
            $0.u16(port)
            $0.raw(address)
        }
    }

    init(address: [UInt8], port: UInt16, zone: UInt32 = 0) {
        self.address = address
        self.port = port
        self.zone = zone
    }

    var isLinkLocal: Bool { address.count == 16 && address[0] == 0xfe && address[1] & 0xc0 == 0x80 }

    init(_ bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        let family = try reader.u8()
        guard family == 4 || family == 6 else { throw Malformed("a candidate of family \(family)") }
        port = try reader.u16()
        address = try reader.raw(family == 4 ? 4 : 16)
        try reader.end(of: "a candidate")
    }
}

/// Connection data, and every way to make it wrong. Spec 4.1.
struct ConnectionData {
    enum Flag { static let mesh: UInt8 = 1, identity: UInt8 = 2, datagrams: UInt8 = 4 }
    enum Field {
        static let peer: UInt16 = 1, instance: UInt16 = 2, preference: UInt16 = 3, fingerprint: UInt16 = 4
        static let token: UInt16 = 5, lifetime: UInt16 = 6, recipient: UInt16 = 8, candidate: UInt16 = 16
        static let all: Set = [
            peer, instance, preference, fingerprint, token, lifetime, recipient, candidate,
        ]
    }
    static let magic = Array("MPCD".utf8)

    var flags: UInt8 = 0
    var endpoint: Endpoint
    var name: [UInt8]
    var preference: Preference
    /// The SHA-256 of the leaf certificate.
    var fingerprint: [UInt8]?
    var token: [UInt8]
    var lifetime: UInt32 = 600
    var recipient: [UInt8]?
    var candidates: [Candidate]
    /// Entries that the format does not know.
    var extra: [TLVEntry] = []

    var outcomePreference: Preference { preference.counted(withIdentity: flags & Flag.identity != 0) }

    /// The entries in the required order.
    var entries: [TLVEntry] {
        var entries = [
            TLVEntry(Field.peer, endpoint.uid + name), TLVEntry(Field.instance, endpoint.instance),
            TLVEntry(Field.preference, [preference.rawValue]), TLVEntry(Field.token, token),
            TLVEntry(Field.lifetime) { $0.u32(lifetime) },
        ]
        if let fingerprint { entries.append(TLVEntry(Field.fingerprint, [1] + fingerprint)) }
        if let recipient { entries.append(TLVEntry(Field.recipient, recipient)) }
        return (entries + candidates.map { TLVEntry(Field.candidate, $0.bytes) } + extra).sorted
    }

    var bytes: [UInt8] { ConnectionData.bytes(entries, flags: flags) }

    /// Returns a blob of any entries, with a correct length and checksum.
    static func bytes(_ entries: [TLVEntry], flags: UInt8 = 0, version: UInt8 = 1) -> [UInt8] {
        let list = entries.bytes
        let head = ByteWriter.bytes {
            $0.raw(magic)
            $0.u8(version)
            $0.u8(flags)
            $0.u16(UInt16(truncatingIfNeeded: list.count + 16))
        }
        return sealed(head + list)
    }

    /// Returns whether these bytes may be a display name. Spec 3.1.
    static func isProper(name: [UInt8]) -> Bool {
        guard (1...63).contains(name.count), let text = String(validating: name, as: UTF8.self) else {
            return false
        }
        let excluded: [ClosedRange<UInt32>] = [0...0x1f, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069]
        return !text.unicodeScalars.contains { scalar in excluded.contains { $0.contains(scalar.value) } }
    }

    /// Returns `bytes` followed by the checksum.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] { bytes + SHA256.hash(bytes).prefix(8) }

    /// Returns the reference of a blob.
    static func reference(_ blob: [UInt8]) -> [UInt8] { SHA256.hash(blob) }
}

extension ConnectionData {
    /// Reads a blob with the checks of 4.2 in their order.
    init(_ blob: [UInt8]) throws(Malformed) {
        guard (24...1_024).contains(blob.count) else { throw Malformed("a blob of \(blob.count) bytes") }
        var reader = ByteReader(blob)
        guard try reader.raw(4) == Self.magic else { throw Malformed("no magic") }
        let version = try reader.u8()
        guard version == 1 else { throw Malformed("version \(version)") }
        flags = try reader.u8()
        let length = try reader.u16()
        guard Int(length) == blob.count else { throw Malformed("length \(length) of \(blob.count) bytes") }
        guard Self.sealed(Array(blob.dropLast(8))) == blob else {
            throw Malformed("the checksum does not fit")
        }
        let list = try reader.raw(reader.rest - 8)
        let entries = try [TLVEntry].read(list, known: Field.all, repeatable: [Field.candidate])
        let peer = try entries.required(Field.peer, "PEER")
        guard (17...79).contains(peer.count) else { throw Malformed("PEER of \(peer.count) bytes") }
        endpoint = Endpoint(
            uid: Array(peer.prefix(16)), instance: try entries.required(Field.instance, "INSTANCE", 8))
        name = Array(peer.dropFirst(16))
        guard Self.isProper(name: name) else { throw Malformed("the name is not proper") }
        let byte = try entries.required(Field.preference, "PREFERENCE", 1)[0]
        guard let preference = Preference(rawValue: byte) else { throw Malformed("preference \(byte)") }
        self.preference = preference
        if preference == .none {
            guard entries.first(Field.fingerprint) == nil else { throw Malformed("a FINGERPRINT with none") }
        } else {
            let value = try entries.required(Field.fingerprint, "FINGERPRINT", 33)
            guard value[0] == 1 else { throw Malformed("fingerprint algorithm \(value[0])") }
            fingerprint = Array(value.dropFirst())
        }
        let hasKey = fingerprint != nil && flags & Flag.identity != 0
        guard hasKey || !KeyedUID.isKeyed(endpoint.uid) else { throw Malformed("a keyed uid without a key") }
        token = try entries.required(Field.token, "TOKEN", 32)
        lifetime = try entries.required(Field.lifetime, "LIFETIME", 4).reduce(0) { $0 << 8 | UInt32($1) }
        recipient = entries.first(Field.recipient)
        guard recipient?.count ?? 16 == 16 else { throw Malformed("RECIPIENT has not 16 bytes") }
        let found = entries.all(Field.candidate)
        guard (1...16).contains(found.count) else { throw Malformed("\(found.count) candidates") }
        candidates = []
        for value in found { candidates.append(try Candidate(value)) }
        extra = entries.filter { !Field.all.contains($0.type) }
    }
}
