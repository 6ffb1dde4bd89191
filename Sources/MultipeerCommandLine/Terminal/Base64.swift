/// Connection data as people exchange it: one line of base64.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Returns the bytes of a text, ignoring white space; nil if it is not base64.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = text.filter { !$0.isWhitespace }
        guard !text.isEmpty else { return nil }
        return Data(base64Encoded: text).map(Array.init)
    }
}
