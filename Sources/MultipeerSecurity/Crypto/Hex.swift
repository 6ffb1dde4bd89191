/// Bytes as pairs of hexadecimal digits.
enum Hex {
    static func encode(_ bytes: [UInt8], separator: String = "", uppercase: Bool = false) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: uppercase)
            return byte < 16 ? "0" + digits : digits
        }.joined(separator: separator)
    }

    /// Returns nil for anything but pairs of digits.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            guard let digit = digit(character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
