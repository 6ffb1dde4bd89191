public import MultipeerCore

/// Which key each peer had when it was first trusted, and whether it was verified. A value; the caller reads and writes the
/// file.
///
/// The text has one entry per line: the peer's 32 hexadecimal digits, its fingerprint, the day on which it was first seen, the
/// day on which it was verified, how, its name with percent-encoding, and the day on which it was linked for the second time, if it
/// was; `-` stands for what is not known. `#` begins a comment line. A line of version 1 has only the first two fields, and one of
/// version 2 not the last.
public struct TrustStore: Hashable, Sendable {
    /// The maximum number of entries in a store.
    public static let maximumCount = 10_000

    private var peers: [UID: Entry] = [:]

    /// Creates an empty store.
    public init() {}

    /// All entries, in the order of the peers' ids.
    public var entries: [Entry] { peers.values.sorted { $0.peer < $1.peer } }

    /// The number of entries.
    public var count: Int { peers.count }

    /// The entry of a peer, if it is known.
    public subscript(peer: UID) -> Entry? { peers[peer] }

    /// The entries of the peers with this key. Usually there is at most one.
    public func entries(of key: Fingerprint) -> [Entry] { entries { $0.fingerprint == key } }

    package func entries(where isWanted: (Entry) -> Bool) -> [Entry] {
        peers.values.filter(isWanted).sorted { $0.peer < $1.peer }
    }

    /// Remembers the key of a peer, replacing an earlier one. What was known of the same key is kept: when it was first seen, and
    /// that it was verified. A peer with the same key and name that now has another id has one entry, with the new id.
    ///
    /// In a full store, the oldest entry of a peer that was linked only once, and never verified, makes room: anyone can fill the
    /// store with such peers.
    ///
    /// - Returns: false when the store is full of others; the store is then unchanged.
    public mutating func remember(_ entry: Entry) -> Bool {
        let same = entries(of: entry.fingerprint)
        let moved = same.filter { $0.peer != entry.peer && $0.name != nil && $0.name == entry.name }
        let remaining = peers.count - moved.count
        if peers[entry.peer] == nil, remaining >= Self.maximumCount {
            guard let oldest = oldestPassing else { return false }
            peers[oldest.peer] = nil
        }
        for old in moved { peers[old.peer] = nil }
        peers[entry.peer] = same.reduce(entry) { $0.merged(with: $1) }
        return true
    }

    private var oldestPassing: Entry? {
        peers.values.filter(\.isPassing).min { ($0.firstSeen ?? 0, $0.peer) < ($1.firstSeen ?? 0, $1.peer) }
    }

    /// Notes that a peer was linked again with the key that is remembered. Does nothing after the second time.
    package mutating func noteSeenAgain(_ entry: Entry, at time: Int64) {
        guard let known = peers[entry.peer], known.fingerprint == entry.fingerprint, known.seenAgain == nil
        else { return }
        peers[entry.peer] = known.again(at: time)
    }

    /// Forgets a peer: its next key counts as the first.
    public mutating func forget(_ peer: UID) { peers[peer] = nil }
}

extension TrustStore {
    private static let title =
        "# multipeer trust store, version 3: peer id, SHA-256 of its certificate, first seen, verified, how, name, seen again\n"
    /// The maximum size of a text in bytes: longer than any that this type prints, to leave room for comments.
    package static let largest = 4_194_304

    /// The store as text, sorted, so that equal stores are equal texts.
    public var text: [UInt8] { Array((Self.title + entries.map { $0.line + "\n" }.joined()).utf8) }

    /// Reads a store from text, of version 1, 2 or 3.
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
        let entry: Entry
        do throws(SecurityFault.TrustStoreProblem) {
            entry = try Entry(fields)
        } catch {
            throw Self.fault(number, error)
        }
        guard peers[entry.peer] == nil else { throw Self.fault(number, .duplicate) }
        guard peers.count < Self.maximumCount else { throw Self.fault(number, .tooManyEntries) }
        peers[entry.peer] = entry
    }

    private static func fault(_ line: Int, _ problem: SecurityFault.TrustStoreProblem) -> SecurityFault {
        .local(.malformedTrustStore(line: line, problem))
    }
}
