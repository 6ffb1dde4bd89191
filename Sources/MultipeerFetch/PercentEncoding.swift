/// Characters that a URL cannot contain. RFC 3986, 2.
enum PercentEncoding {
    /// Returns the text with all encoded but what a component of a path may contain, and `others`. What is encoded stays so.
    static func encode(_ text: String, keeping others: String) -> String {
        let kept = Array("-._~!$&'()*+,;=:@\(others)".utf8)
        let bytes = Array(text.utf8)
        var encoded = ""
        for (place, byte) in bytes.enumerated() {
            let isEncoded =
                byte == UInt8(ascii: "%") && place + 2 < bytes.count
                && bytes[place + 1...place + 2].allSatisfy { digit($0) != nil }
            if isEncoded || isLetterOrDigit(byte) || kept.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// Returns the text decoded, or as it is if the result would not be UTF-8.
    static func decode(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "%"), place + 2 < bytes.count, let high = digit(bytes[place + 1]),
                let low = digit(bytes[place + 2])
            {
                decoded.append(high << 4 | low)
                place += 3
            } else {
                decoded.append(bytes[place])
                place += 1
            }
        }
        return String(validating: decoded, as: UTF8.self) ?? text
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
