/// Text in reports. Much of it comes from the subject, which may be hostile: names, reasons, standard error.
extension String {
    /// On one line, without anything that changes what a terminal or a browser shows around it, and of at most `most`
    /// characters.
    func plain(most: Int = 2_000) -> String {
        var text = ""
        var count = 0
        for scalar in unicodeScalars {
            guard count < most else { return text + "…" }
            count += 1
            if scalar.isHarmless {
                text.unicodeScalars.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }

    /// Escaped for XML and HTML; characters that XML does not allow, or that change the direction of text, become U+FFFD.
    var escaped: String {
        var text = ""
        text.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            default: text.unicodeScalars.append(scalar.isHarmless ? scalar : "\u{fffd}")
            }
        }
        return text
    }

    /// Without the tokens of connection data, which are secrets: anyone who has one can link.
    ///
    /// Connection data is found by its magic, in the hexadecimal digits of requests, answers and frames, and its token by type
    /// and length, even if its end is cut off.
    var withoutTokens: String {
        guard contains(String.magic) else { return self }
        let digits = Array(utf8)
        var bytes: [UInt8] = []
        var position = 0
        while position < digits.count {
            guard digits[position...].starts(with: String.magic.utf8) else {
                bytes.append(digits[position])
                position += 1
                continue
            }
            let run = digits[position...].prefix { String.hexadecimal.contains($0) }
            bytes += String.masked(run)
            position = run.endIndex
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the digits of connection data with the value of each field that may be a token replaced. The lengths of the fields
    /// before it are not trusted: some cases send wrong ones.
    private static func masked(_ run: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = run
        while let first = rest.first {
            let head = rest.prefix(8)
            guard head.count == 8, head.starts(with: tokenHead.utf8),
                let count = Int(String(decoding: head.suffix(2), as: UTF8.self), radix: 16)
            else {
                result.append(first)
                rest = rest.dropFirst()
                continue
            }
            result += head + Array("<token>".utf8)
            rest = rest.dropFirst(8 + 2 * count)
        }
        return result
    }

    private static let magic = "4d504344"
    /// Its type, and the first of the two bytes of its length.
    private static let tokenHead = "000500"
    private static let hexadecimal = Set("0123456789abcdefABCDEF".utf8)
}

extension Unicode.Scalar {
    /// Whether it shows, alone and nothing else.
    fileprivate var isHarmless: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            false
        default: true
        }
    }
}
