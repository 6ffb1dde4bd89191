/// Text from the network, and the names that a person is shown. Spec 2.4 and 3.1.
package enum Text {
    /// The text of `bytes`, which must be valid UTF-8.
    package static func read(_ bytes: Span<UInt8>) throws(FramingError) -> String {
        guard let text = String(validating: [UInt8](copying: bytes), as: UTF8.self) else {
            throw .invalidText
        }
        return text
    }

    /// As much of the beginning of `text` as fits into `limit` bytes without cutting a character's encoding.
    package static func prefix(_ text: String, limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            let encoded = UTF8.encode(scalar)
            guard let encoded, bytes.count + encoded.count <= limit else { break }
            bytes.append(contentsOf: encoded)
        }
        return bytes
    }
}

/// The rule for a peer's display name: it is shown to people, so it must not be able to play tricks on a
/// screen. Spec 3.1.
package enum DisplayName {
    /// The name in `bytes`, or a complaint.
    package static func read(_ bytes: Span<UInt8>) throws(FramingError) -> String {
        guard bytes.count <= Limits.displayName else { throw .invalidText }
        let name = try Text.read(bytes)
        guard isValid(name) else { throw .invalidText }
        return name
    }

    /// Whether `name` has 1 to 63 bytes and no control character.
    package static func isValid(_ name: String) -> Bool {
        (1...Limits.displayName).contains(name.utf8.count)  // [peer.name]
            && !name.unicodeScalars.contains { isControl($0.value) }
    }

    /// C0, DEL and C1, and the controls that change the direction of the text around them.
    private static func isControl(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
