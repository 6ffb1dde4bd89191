import MultipeerSecurity

/// Reads connection data with the checks of 4.2 in their order.
struct ConnectionDataReader {
    let bug: Bug?

    func read(_ blob: [UInt8]) throws(ProtocolError) -> ConnectionData {
        if bug == .dataCrashesShort, blob.count < 24 { fatalError("short data") }
        let longest = bug == .dataLimit512 ? 512 : 1_024
        try demand((24...longest).contains(blob.count), "connection data of \(blob.count) bytes")
        try demand(blob.starts(with: ConnectionData.magic) || bug == .dataAnyMagic, "no magic")
        try demand(blob[5] & 0xf8 == 0 || bug != .dataRefusesFlags, "unknown flags")
        try demand(blob[4] == 1 || bug == .dataIgnoresVersion, .version, "version \(blob[4])")
        let isWhole = blob[6..<8].map(\.self).number == UInt64(blob.count)
        try demand(isWhole, "a length that is wrong")
        let isSound = ConnectionData.sealed(Array(blob.dropLast(8))) == blob
        if bug == .crashesOnBadData, !isSound { fatalError("bad data") }
        try demand(isSound || bug == .dataIgnoresChecksum, "the checksum does not fit")
        let list = Array(blob[8...].dropLast(8))
        typealias Field = ConnectionData.Field
        let entries = try EntryReader(bug: bug).read(list, known: Field.all, repeatable: [Field.candidate])
        let isNoOne = bug == .dataWithoutPeer && entries.first(Field.peer) == nil
        let peer =
            try isNoOne
            ? .pattern(15) + [65, 65]
            : entries.demanded(Field.peer, "PEER", bug == .nameUnchecked ? 16...999 : 17...79)
        let name = Array(peer.dropFirst(16))
        try demand(name.isName || bug == .nameUnchecked, "an invalid name")
        let instance = try entries.demanded(
            Field.instance, "INSTANCE", bug == .dataAnyInstance ? 0...99 : 8...8)
        let preference = try preference(entries)
        let fingerprint = try fingerprint(entries, preference)
        let hasKey = fingerprint != nil && blob[5] & ConnectionData.Flag.identity != 0
        let isProvable = hasKey || !KeyedUID.isKeyed(Array(peer.prefix(16)))
        try demand(isProvable || bug == .dataKeyedUnchecked, "a keyed uid without an identity")
        let token = try entries.demanded(Field.token, "TOKEN", bug == .dataTokenUnchecked ? 0...999 : 32...32)
        let lifetime = try entries.demanded(Field.lifetime, "LIFETIME", 4)
        let recipient = try entries.possible(Field.recipient, "RECIPIENT", 16...16)
        return ConnectionData(
            flags: blob[5], endpoint: Endpoint(uid: Array(peer.prefix(16)), instance: instance), name: name,
            preference: preference, fingerprint: fingerprint, token: token, lifetime: UInt32(lifetime.number),
            recipient: recipient, candidates: try candidates(entries.all(Field.candidate)))
    }

    private func preference(_ entries: [TLVEntry]) throws(ProtocolError) -> Preference {
        let byte = try entries.demanded(ConnectionData.Field.preference, "PREFERENCE", 1)[0]
        if let preference = Preference(rawValue: byte) { return preference }
        try demand(bug == .dataAnyPreference, "preference \(byte)")
        return entries.first(ConnectionData.Field.fingerprint) == nil ? .none : .optional
    }

    private func fingerprint(_ entries: [TLVEntry], _ preference: Preference) throws(ProtocolError)
        -> [UInt8]?
    {
        let value = try entries.possible(ConnectionData.Field.fingerprint, "FINGERPRINT", 33...33)
        if bug == .dataFingerprintOptional { return value.map { Array($0.dropFirst()) } }
        try demand((value == nil) == (preference == .none), "a FINGERPRINT that does not fit the preference")
        try demand(value?[0] ?? 1 == 1, "an unknown algorithm")
        return value.map { Array($0.dropFirst()) }
    }

    private func candidates(_ values: [[UInt8]]) throws(ProtocolError) -> [Candidate] {
        let isAny = bug == .dataAnyCandidates
        try demand((1...16).contains(values.count) || isAny, "\(values.count) candidates")
        var candidates: [Candidate] = []
        for value in values {
            if isAny, value.count < 7 { continue }
            try demand(
                isAny || value.first == 4 && value.count == 7 || value.first == 6 && value.count == 19,
                "a candidate")
            candidates.append(
                Candidate(address: Array(value[3...]), port: UInt16(value[1]) << 8 | UInt16(value[2])))
        }
        return candidates
    }
}

extension Candidate {
    /// The address, as IPv4 if it is an IPv4-mapped IPv6 address.
    private var unmapped: [UInt8] {
        address.count == 16 && address.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
            ? Array(address.suffix(4)) : address
    }

    var isLoopback: Bool {
        unmapped.count == 4 ? unmapped[0] == 127 : unmapped == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The candidate for each interface on which it is tried. Spec 4.4.
    func tried(bug: Bug?) -> [Candidate] {
        guard isLinkLocal else { return [self] }
        let zones = NetworkInterfaces.up
        let most = bug == .linkLocalOnce ? 1 : bug == .linkLocalEverywhere ? zones.count : 8
        return zones.prefix(most).map { Candidate(address: address, port: port, zone: $0) }
    }

    /// Whether a peer that listens on loopback itself may dial it. Spec 4.4.
    func isAllowed(bug: Bug?) -> Bool {
        if bug == .dialsForbidden { return true }
        let address = unmapped
        guard port >= 1_024 || bug == .dialsLowPort else { return false }
        if address.count == 16 { return address[0] != 0xff && address.contains { $0 != 0 } }
        return address[0] != 0 && !(224...239).contains(address[0]) && address != [255, 255, 255, 255]
    }
}
