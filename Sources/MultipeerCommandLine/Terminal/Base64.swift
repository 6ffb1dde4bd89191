/// Connection data as people exchange it: one line of base64. RFC 4648, 4.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place > group.count ? padding : digits[number >> (18 - 6 * place) & 63])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text, ignoring white space; nil if it is not base64.
    package static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.filter { !$0.isWhitespace }.utf8)
        guard !text.isEmpty, text.count.isMultiple(of: 4) else { return nil }
        let padded = text.suffix(2).count { $0 == padding }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var number = 0
        for (place, digit) in text.dropLast(padded).enumerated() {
            guard let value = value(of: digit) else { return nil }
            number = (number << 6 | value) & 0xFF_FFFF
            // Each digit but the first of four completes a byte.
            let spare = 4 - 2 * (place % 4 - 1)
            if !place.isMultiple(of: 4) { bytes.append(UInt8(truncatingIfNeeded: number >> spare)) }
        }
        return bytes
    }

    private static func value(of digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
