/// The names of services. Spec 12.2.
enum ServiceNames {
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Returns the domain name of a service type.
    static func type(_ word: String) -> [[UInt8]] { [Array("_\(word)".utf8)] + .labels("_tcp.local") }

    /// Returns whether this is a service name of RFC 6335, 5.1, in lower case.
    static func isType(_ word: String) -> Bool {
        let bytes = Array(word.utf8)
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        let isOther = { (byte: UInt8) in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        return (1...15).contains(bytes.count) && bytes.contains(where: isLetter)
            && bytes.allSatisfy { isLetter($0) || isOther($0) } && !word.contains("--")
            && !word.hasPrefix("-") && !word.hasSuffix("-")
    }

    /// Returns whether these may be the attributes of an application.
    static func isInfo(_ info: [String: String]) -> Bool {
        let keys = info.keys.map { $0.lowercased() }
        let sizes = info.map { $0.key.utf8.count + 1 + $0.value.utf8.count }
        return Set(keys).count == keys.count && !keys.contains { ["mpc", "n", "c"].contains($0) }
            && info.keys.allSatisfy { key in
                (1...64).contains(key.utf8.count)
                    && key.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != 0x3d }
            }
            && sizes.allSatisfy { $0 <= 255 } && sizes.reduce(0) { $0 + 1 + $1 } <= 1_222
    }

    /// Returns the label of an instance: as much of the name as fits, a hyphen, and the uid.
    static func label(_ name: [UInt8], _ uid: [UInt8], mark: String = "") -> [UInt8] {
        let end = Array(mark.utf8) + [UInt8(ascii: "-")] + base32(uid)
        var start = ""
        for character in String(decoding: name, as: UTF8.self)
        where start.utf8.count + String(character).utf8.count + end.count <= 63 {
            start.append(character)
        }
        return Array(start.utf8) + end
    }

    /// Returns the uid at the end of a label; nil if it has none.
    static func uid(of label: [UInt8]) -> [UInt8]? {
        guard label.count >= 27, label[label.count - 27] == UInt8(ascii: "-") else { return nil }
        var bits = 0
        var held = 0
        var bytes: [UInt8] = []
        for character in [label.suffix(26).map { $0 }].folded[0] {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            (bits, held) = (bits << 5 | digit, held + 5)
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(bits >> held))
            bits &= (1 << held) - 1
        }
        return bits == 0 ? bytes : nil
    }

    /// 26 digits for 16 bytes. RFC 4648, 6, without padding.
    static func base32(_ bytes: [UInt8]) -> [UInt8] {
        var (bits, held) = (0, 0)
        var text: [UInt8] = []
        for byte in bytes {
            (bits, held) = (bits << 8 | Int(byte), held + 8)
            while held >= 5 {
                held -= 5
                text.append(digits[bits >> held])
                bits &= (1 << held) - 1
            }
        }
        if held > 0 { text.append(digits[bits << (5 - held)]) }
        return text
    }
}
