/// Names as people write them: labels with dots between, `\.` for a dot and `\\` for a backslash within a label, `\ddd`
/// for any byte. RFC 1035, 5.1; RFC 6763, 4.3.
extension DNSName: CustomStringConvertible, ExpressibleByStringLiteral {
    /// Returns nil when `dotted` is not a valid name. A trailing dot is ignored.
    package init?(_ dotted: String) {
        var labels: [[UInt8]] = []
        var label: [UInt8] = []
        var rest = Array(dotted.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."):
                labels.append(label)
                label = []
            case UInt8(ascii: "\\"):
                guard let escaped = DNSName.escaped(&rest) else { return nil }
                label.append(escaped)
            default: label.append(byte)
            }
        }
        if !label.isEmpty { labels.append(label) }
        guard let name = try? DNSName(labels == [[]] ? [] : labels) else { return nil }
        self = name
    }

    /// Creates a name from a literal in the program; an invalid literal is a programming error.
    package init(stringLiteral text: StringLiteralType) {
        guard let name = DNSName(String(text)) else { preconditionFailure("not a domain name: \(text)") }
        self = name
    }

    package var description: String {
        isRoot ? "." : labels.map(DNSName.text).joined(separator: ".")
    }

    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        let digits = rest.prefix(3).compactMap { digit in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) ? Int(digit) - 48 : nil
        }
        guard digits.count == 3 else { return rest.popFirst() }
        rest = rest.dropFirst(3)
        return UInt8(exactly: digits.reduce(0) { 10 * $0 + $1 })
    }

    private static func text(_ label: [UInt8]) -> String {
        let isText = String(validating: label, as: UTF8.self) != nil
        var bytes: [UInt8] = []
        for byte in label {
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: bytes.append(byte)
            case 0x80... where isText: bytes.append(byte)
            default: bytes += [UInt8(ascii: "\\")] + [byte / 100, byte / 10 % 10, byte % 10].map { 48 + $0 }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
