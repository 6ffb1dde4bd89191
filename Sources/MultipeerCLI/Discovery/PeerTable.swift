import MultipeerCommandLine
package import MultipeerEssentials

/// The advertised peers, as a table for people.
package struct PeerTable: Sendable {
    private struct Row: Sendable {
        var peer: DiscoveredPeer
        let since: Duration
        var addresses: [SocketAddress] = []
    }

    private var rows: [PeerID: Row] = [:]
    private static let longestName = 32

    package init() {}

    package var count: Int { rows.count }

    package mutating func add(_ peer: DiscoveredPeer, at time: Duration) {
        let old = rows[peer.peer]
        rows[peer.peer] = Row(peer: peer, since: old?.since ?? time, addresses: old?.addresses ?? [])
    }

    package mutating func remove(_ peer: PeerID) { rows[peer] = nil }

    package mutating func resolve(_ peer: PeerID, _ addresses: [SocketAddress]) {
        rows[peer]?.addresses = addresses
    }

    /// Returns the table in at most `width` columns and `height` lines; the first line has the headings.
    package func lines(at time: Duration, width: Int, height: Int) -> [String] {
        let sorted = rows.values.sorted {
            ($0.peer.peer.displayName, $0.peer.peer.uid) < ($1.peer.peer.displayName, $1.peer.peer.uid)
        }
        let room = Swift.max(1, height - 1)
        let shown = sorted.count > room ? sorted.prefix(room - 1) : sorted[...]
        let cells = shown.map { row in
            [
                row.peer.peer.displayName.printable.fitted(to: PeerTable.longestName), row.peer.peer.shortID,
                row.peer.peer.uid.idKind.rawValue, HumanReadable.clock(time - row.since),
                PeerTable.remark(row),
            ]
        }
        var lines = PeerTable.aligned([["NAME", "ID", "KIND", "FOR", "INFO"]] + cells, width: width)
        if shown.count < sorted.count {
            lines.append("and \(sorted.count - shown.count) more".fitted(to: width))
        }
        return lines
    }

    private static func remark(_ row: Row) -> String {
        ([row.peer.infoText] + row.addresses.map(\.description)).filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func aligned(_ rows: [[String]], width: Int) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].columns }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.columns)
            }.joined(separator: "  ")
            var trimmed = line
            while trimmed.last == " " { trimmed.removeLast() }
            return trimmed.columns > width ? trimmed.head(width) : trimmed
        }
    }
}

extension UID {
    /// What an id that was only seen on the network can prove once there is a link.
    package enum IDKind: String, Encodable, Sendable {
        /// The hash of a key: only a peer that has the key can be linked under this id.
        case keyed
        /// Any peer can use it.
        case random
    }

    package var idKind: IDKind { isKeyed ? .keyed : .random }
}

extension PeerID {
    /// The first digits of the id, enough to distinguish peers with the same name.
    package var shortID: String { uid.shortDigits }

    /// All 32 digits of the id.
    package var id: String { uid.bytes.hexadecimal }

    /// The quoted name and the short id, for people. Quotes in the name are escaped, so that it cannot imitate the text around
    /// it.
    package var introduction: String {
        "'\(displayName.printable.replacing(each: "'", with: "\\u{27}"))' (id \(shortID))"
    }
}

extension DiscoveredPeer {
    /// Its info, as one line.
    package var infoText: String {
        info.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)".printable }.joined(separator: " ")
    }
}

extension String {
    /// Returns the beginning that fits `width` columns.
    fileprivate func head(_ width: Int) -> String {
        var head = ""
        var used = 0
        for character in self {
            used += String(character).columns
            if used > width { break }
            head.append(character)
        }
        return head
    }
}
