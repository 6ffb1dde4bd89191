/// The rule for a peer's display name: it is shown to users, so it must not contain characters that
/// manipulate the display. Spec 3.1.
package enum DisplayName {
    /// The maximum length of a name, in bytes of UTF-8.
    package static let longest = 63  // [peer.name]

    /// Returns whether `name` has 1 to 63 bytes and no control character.
    package static func isValid(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count)
            && !name.unicodeScalars.contains { isControl($0.value) }
    }

    /// Returns the valid name that stands for any text: control characters that separate words become spaces, others U+FFFD, and
    /// more than 63 bytes are cut between characters. Empty for an empty text.
    package static func sanitized(_ text: String) -> String {
        if isValid(text) { return text }
        var name = ""
        for scalar in text.unicodeScalars {
            name.unicodeScalars.append(isControl(scalar.value) ? shown(scalar) : scalar)
        }
        return beginning(of: name)
    }

    private static func shown(_ control: Unicode.Scalar) -> Unicode.Scalar {
        switch control.value {
        case 0x09...0x0D, 0x85: " "
        default: "\u{FFFD}"
        }
    }

    /// Returns as many whole characters as fit; of a single one that does not, as many of its parts.
    private static func beginning(of name: String) -> String {
        var cut = ""
        for character in name {
            guard cut.utf8.count + character.utf8.count <= longest else { break }
            cut.append(character)
        }
        if !cut.isEmpty { return cut }
        for scalar in name.unicodeScalars {
            guard cut.utf8.count + UTF8.width(scalar) <= longest else { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut
    }

    /// Returns whether `scalar` is one of C0, DEL and C1, or of the controls that change the direction of the
    /// text around them.
    private static func isControl(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
