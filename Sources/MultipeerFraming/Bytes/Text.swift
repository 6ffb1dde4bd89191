import MultipeerCore

/// Text from the network, and the names that are shown to users. Spec 2.4 and 3.1.
package enum Text {
    /// Decodes `bytes`, which must be valid UTF-8.
    package static func read(_ bytes: Span<UInt8>) throws(FramingError) -> String {
        guard let text = String(validating: [UInt8](copying: bytes), as: UTF8.self) else {
            throw .invalidText
        }
        return text
    }

    /// Returns the longest prefix of `text` that fits into `limit` bytes without splitting a character's
    /// encoding.
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

extension DisplayName {
    /// Decodes the name in `bytes`, or throws when it is not valid.
    package static func read(_ bytes: Span<UInt8>) throws(FramingError) -> String {
        guard bytes.count <= longest else { throw .invalidText }
        let name = try Text.read(bytes)
        guard isValid(name) else { throw .invalidText }
        return name
    }
}
