import Foundation

/// Connection data as people hand it around: one line of base64.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The bytes of a text; white space around it and line breaks inside do not matter. Nil for anything else.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = text.filter { !$0.isWhitespace }
        guard !text.isEmpty else { return nil }
        return Data(base64Encoded: text).map(Array.init)
    }
}
