import Multipeer

extension String {
    /// The text with everything escaped that could play tricks on a terminal: controls, line separators, and the
    /// characters that turn the direction of the text around them or are not seen at all.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isTricky) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isTricky {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
