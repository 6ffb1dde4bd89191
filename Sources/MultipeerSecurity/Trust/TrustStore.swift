public import MultipeerCore

/// Which key each peer had when it was first trusted. A value; the caller reads and writes the file.
///
/// The text has one entry per line, the peer's 32 hexadecimal digits and its fingerprint; `#` begins a comment
/// line.
public struct TrustStore: Hashable, Sendable {
    /// The maximum number of entries in a store.
    public static let maximumCount = 10_000

    /// The key of each peer.
    public private(set) var entries: [UID: Fingerprint] = [:]

    /// Creates an empty store.
    public init() {}

    /// The key of a peer, if it is known.
    public subscript(peer: UID) -> Fingerprint? { entries[peer] }

    /// Remembers the key of a peer, replacing an earlier one.
    ///
    /// - Returns: false when the store is full; the store is then unchanged.
    public mutating func remember(_ fingerprint: Fingerprint, of peer: UID) -> Bool {
        guard entries[peer] != nil || entries.count < Self.maximumCount else { return false }
        entries[peer] = fingerprint
        return true
    }

    /// Forgets a peer: its next key counts as the first.
    public mutating func forget(_ peer: UID) { entries[peer] = nil }
}

extension TrustStore {
    private static let title = "# multipeer trust store, version 1: peer id, SHA-256 of its certificate\n"
    /// The maximum size of a text in bytes: longer than any that this type prints, to leave room for comments.
    private static let largest = 4_194_304

    /// The store as text, sorted, so that equal stores are equal texts.
    public var text: [UInt8] {
        let lines = entries.sorted { $0.key < $1.key }.map { "\(Hex.encode($0.key.bytes)) \($0.value)\n" }
        return Array((Self.title + lines.joined()).utf8)
    }

    /// Reads a store from text.
    ///
    /// - Parameter text: the output of ``text``, possibly edited.
    /// - Throws: ``SecurityFault`` with the number of the first line that is wrong. Nothing is skipped silently: a
    ///   store that loses an entry would trust a new key.
    package init(parsing text: [UInt8]) throws(SecurityFault) {
        guard text.count <= Self.largest else { throw Self.fault(0, .tooLarge) }
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            try add(line, number: index + 1)
        }
    }

    private mutating func add(_ line: ArraySlice<UInt8>, number: Int) throws(SecurityFault) {
        let space: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
        let fields = line.split { space.contains($0) }
        guard let first = fields.first, first.first != UInt8(ascii: "#") else { return }
        guard fields.count == 2 else { throw Self.fault(number, .fieldCount) }
        guard first.count == 2 * UID.byteCount, let peer = Hex.decode(first).flatMap(UID.init) else {
            throw Self.fault(number, .peerID)
        }
        guard let fingerprint = Fingerprint(hex: String(decoding: fields[1], as: UTF8.self)) else {
            throw Self.fault(number, .fingerprint)
        }
        guard entries[peer] == nil else { throw Self.fault(number, .duplicate) }
        guard remember(fingerprint, of: peer) else { throw Self.fault(number, .tooManyEntries) }
    }

    private static func fault(_ line: Int, _ problem: SecurityFault.TrustStoreProblem) -> SecurityFault {
        .local(.malformedTrustStore(line: line, problem))
    }
}
