public import MultipeerCore

extension TrustStore {
    /// A key that is remembered, and what is known of its holder.
    public struct Entry: Hashable, Sendable {
        /// The peer's id.
        public let peer: UID
        /// The fingerprint of its key.
        public let fingerprint: Fingerprint
        /// The name that it had then. The peer chose it: escape it before displaying it. Nil in an entry of version 1.
        public let name: String?
        /// The day on which the key was first seen, in seconds since 1970, UTC; nil in an entry of version 1.
        public let firstSeen: Int64?
        /// The day on which the peer was verified, in seconds since 1970, UTC; nil if it never was.
        public let verifiedOn: Int64?
        /// How it was verified; nil if it never was.
        public let verifiedBy: PeerVerification.Means?
        /// The day on which it was linked for the second time, in seconds since 1970, UTC; nil if it was linked once.
        public let seenAgain: Int64?

        /// Creates an entry for a time in seconds since 1970, of which only the day is kept.
        public init(
            peer: UID, fingerprint: Fingerprint, name: String?, at time: Int64?,
            verifiedBy means: PeerVerification.Means? = nil
        ) {
            let day = time.map { CalendarDate(secondsSince1970: $0).secondsSince1970 }
            self.init(
                peer, fingerprint, name, firstSeen: day, verifiedOn: means == nil ? nil : day, means,
                seenAgain: nil)
        }

        private init(
            _ peer: UID, _ fingerprint: Fingerprint, _ name: String?, firstSeen: Int64?, verifiedOn: Int64?,
            _ means: PeerVerification.Means?, seenAgain: Int64?
        ) {
            self.peer = peer
            self.fingerprint = fingerprint
            self.name = name
            self.firstSeen = firstSeen
            self.verifiedOn = verifiedOn
            verifiedBy = means
            self.seenAgain = seenAgain
        }

        /// What a link with this key shows.
        public var verification: PeerVerification { .knownKey(since: since, verifiedBy: verifiedBy) }

        /// The day on which it was verified, or else first seen.
        package var since: Int64? { verifiedOn ?? firstSeen }

        /// Returns this entry with what was known of its key before.
        func merged(with old: Entry) -> Entry {
            Entry(
                peer, fingerprint, name, firstSeen: old.firstSeen ?? firstSeen,
                verifiedOn: verifiedOn ?? old.verifiedOn, verifiedBy ?? old.verifiedBy,
                seenAgain: seenAgain ?? old.seenAgain)
        }

        /// Returns this entry once its peer was linked again.
        func again(at time: Int64) -> Entry {
            let day = CalendarDate(secondsSince1970: time).secondsSince1970
            return Entry(
                peer, fingerprint, name, firstSeen: firstSeen, verifiedOn: verifiedOn, verifiedBy,
                seenAgain: seenAgain ?? day)
        }

        /// Whether it makes room for another: its peer was linked once, and never verified. That of a file of version 1 may have
        /// been linked often.
        var isPassing: Bool { seenAgain == nil && verifiedBy == nil && firstSeen != nil }
    }
}

// MARK: - A line of the file

extension TrustStore.Entry {
    private static let unknown = "-"

    var line: String {
        func day(_ time: Int64?) -> String {
            time.map { "\(CalendarDate(secondsSince1970: $0))" } ?? Self.unknown
        }
        let fields =
            [
                Hex.encode(peer.bytes), "\(fingerprint)", day(firstSeen), day(verifiedOn),
                verifiedBy?.rawValue ?? Self.unknown, name.map(Self.encoded) ?? Self.unknown,
            ] + (seenAgain == nil ? [] : [day(seenAgain)])
        return fields.joined(separator: " ")
    }

    init(_ fields: [ArraySlice<UInt8>]) throws(SecurityFault.TrustStoreProblem) {
        guard [2, 6, 7].contains(fields.count) else { throw .fieldCount }
        guard fields[0].count == 2 * UID.byteCount, let peer = Hex.decode(fields[0]).flatMap(UID.init) else {
            throw .peerID
        }
        let texts = fields.map { String(decoding: $0, as: UTF8.self) }
        guard let fingerprint = Fingerprint(hex: texts[1]) else { throw .fingerprint }
        if fields.count == 2 {
            self.init(peer, fingerprint, nil, firstSeen: nil, verifiedOn: nil, nil, seenAgain: nil)
            return
        }
        let (firstSeen, verifiedOn) = (try Self.day(texts[2]), try Self.day(texts[3]))
        let means = PeerVerification.Means(rawValue: texts[4])
        guard (means == nil) == (texts[4] == Self.unknown), (means == nil) == (verifiedOn == nil) else {
            throw .verification
        }
        self.init(
            peer, fingerprint, try Self.decoded(fields[5]), firstSeen: firstSeen, verifiedOn: verifiedOn,
            means, seenAgain: fields.count == 7 ? try Self.day(texts[6]) : nil)
    }

    private static func day(_ text: String) throws(SecurityFault.TrustStoreProblem) -> Int64? {
        if text == unknown { return nil }
        guard let date = CalendarDate(text) else { throw .date }
        return date.secondsSince1970
    }

    /// Letters, digits, points and underscores stay; every other byte becomes `%` and two digits.
    private static func encoded(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hex.encode([byte])
            }
        }
        return text
    }

    private static func decoded(
        _ text: ArraySlice<UInt8>
    ) throws(SecurityFault.TrustStoreProblem) -> String? {
        if text.elementsEqual(unknown.utf8) { return nil }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let pair = Hex.decode(rest.prefix(2)) else { throw .name }
            bytes += pair
            rest = rest.dropFirst(2)
        }
        guard let name = String(validating: bytes, as: UTF8.self), bytes.count <= 63 else { throw .name }
        return name
    }
}
