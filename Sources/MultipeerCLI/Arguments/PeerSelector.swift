import MultipeerCommandLine
package import MultipeerEssentials

/// The peer that the user selects: a name, a name with digits of an id after `#`, or `#` and such digits alone.
package struct PeerSelector: Equatable, Sendable {
    /// Nil when any name matches.
    package let name: String?
    /// The first hexadecimal digits of the id, or all 32; nil to match by name only.
    package let digits: String?
    private static let fewestDigits = 4
    /// With at least these of a keyed uid, 90 bits are digits of a hash: no other key has them.
    private static let provingDigits = 24

    /// Returns nil for an invalid text: no name, or anything but 4 to 32 digits after the last `#`.
    package init?(_ text: String) {
        guard let mark = text.lastPosition(of: "#") else {
            guard !text.isEmpty else { return nil }
            (name, digits) = (text, nil)
            return
        }
        let digits = text[text.index(after: mark)...].lowercased()
        guard (PeerSelector.fewestDigits...32).contains(digits.count), digits.allSatisfy(\.isHexDigit),
            digits.allSatisfy(\.isASCII)
        else { return nil }
        let name = String(text[..<mark])
        self.name = name.isEmpty ? nil : name
        self.digits = digits
    }

    /// Returns the peers that are meant: those with exactly this name; if there are none, those whose name differs in its case
    /// only; if there are none, those whose name begins with it. `isWhole`: the beginning of a name is not enough.
    package func matches(_ peers: [PeerID], isWhole: Bool = false) -> [PeerID] {
        let numbered = peers.filter { $0.id.begins(with: digits ?? "") }
        guard let name else { return numbered }
        let folded = name.lowercased()
        let tests: [(String) -> Bool] = [
            { $0 == name }, { $0.lowercased() == folded },
            { !isWhole && $0.lowercased().begins(with: folded) },
        ]
        return tests.lazy.map { test in numbered.filter { test($0.displayName) } }.first { !$0.isEmpty } ?? []
    }

    /// Whether no other peer can match and link: the digits are those of a key. [uid.proof]
    package func proves(_ peer: PeerID) -> Bool {
        peer.uid.isKeyed && canProve
    }

    /// Whether the digits are enough for that.
    var canProve: Bool { digits?.count ?? 0 >= PeerSelector.provingDigits }

    /// What a match of digits says about who the peer is, for people; nil when no digits were given.
    package func remark(on peer: PeerID) -> String? {
        guard let digits else { return nil }
        let name = peer.displayName.printable
        if proves(peer) { return "\(name) is verified by its id, which is a hash of its key" }
        guard peer.uid.isKeyed else {
            return "\(name) is not verified: its id is random, and anyone can use it"
        }
        return "\(name) is not verified: anyone can have the \(digits.count) digits of its id; "
            + "compare its whole id with its user: #\(peer.id)"
    }

    /// Whether at most one peer can match.
    package var isExact: Bool { digits?.count == 32 }
}
