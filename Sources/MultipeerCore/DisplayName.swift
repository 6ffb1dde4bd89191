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

    /// Returns whether `scalar` is one of C0, DEL and C1, or of the controls that change the direction of the
    /// text around them.
    private static func isControl(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
