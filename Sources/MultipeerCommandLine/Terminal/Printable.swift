import Multipeer

extension String {
    /// The text with everything escaped that could spoof terminal output: control characters, line separators, and the
    /// characters that change the direction of text or are invisible.
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
