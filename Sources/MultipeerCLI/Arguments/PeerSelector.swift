package import Multipeer

/// Whom `--to` means: a name, a name with digits of an id behind `#`, or `#` and such digits alone.
package struct PeerSelector: Equatable, Sendable {
    /// Nil when any name will do.
    package let name: String?
    /// The first hexadecimal digits of the id, or all 32; nil when the name alone decides.
    package let digits: String?
    private static let fewestDigits = 4

    /// Nil for a text that means nobody: no name, or something else than 4 to 32 digits after the last `#`.
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

    /// Whether nobody else can be meant as well.
    package var isExact: Bool { digits?.count == 32 }
}
