package import Multipeer

/// The peer that `--to` selects: a name, a name with digits of an id after `#`, or `#` and such digits alone.
package struct PeerSelector: Equatable, Sendable {
    /// Nil when any name matches.
    package let name: String?
    /// The first hexadecimal digits of the id, or all 32; nil to match by name only.
    package let digits: String?
    private static let fewestDigits = 4

    /// Returns nil for an invalid text: no name, or anything but 4 to 32 digits after the last `#`.
    package init?(_ text: String) {
        guard let mark = text.lastIndex(of: "#") else {
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

    package func means(_ peer: PeerID) -> Bool {
        (name == nil || peer.displayName == name) && peer.id.hasPrefix(digits ?? "")
    }

    /// Whether at most one peer can match.
    package var isExact: Bool { digits?.count == 32 }
}
