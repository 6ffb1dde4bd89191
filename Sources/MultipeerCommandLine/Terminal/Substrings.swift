// Searches for whole texts, byte for byte. Those of the standard library come with its regular expressions, 1 MB of the program that
// is shipped.
extension String {
    /// Whether `part` occurs in it.
    package func hasPart(_ part: String) -> Bool { parts(between: part).count > 1 }

    /// Returns what is before, between and after each `separator`, which is not empty.
    package func parts(between separator: String) -> [String] {
        let (text, mark) = (Array(utf8), Array(separator.utf8))
        precondition(!mark.isEmpty, "a separator is not empty")
        var parts: [String] = []
        var (start, place) = (0, 0)
        while place + mark.count <= text.count {
            if text[place..<place + mark.count].elementsEqual(mark) {
                parts.append(String(decoding: text[start..<place], as: UTF8.self))
                place += mark.count
                start = place
            } else {
                place += 1
            }
        }
        return parts + [String(decoding: text[start...], as: UTF8.self)]
    }

    /// Returns it with `replacement` in place of each `part`, which is not empty.
    package func replacing(each part: String, with replacement: String) -> String {
        parts(between: part).joined(separator: replacement)
    }
}
