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

extension Unicode.Scalar {
    /// Whether it can change how a terminal shows the text around it, or is not seen.
    var isTricky: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}
