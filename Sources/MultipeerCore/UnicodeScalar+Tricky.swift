extension Unicode.Scalar {
    /// Whether it is invisible or can change how a terminal shows the text around it.
    package var isTricky: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it usually shows nothing, or a space that is not the common one: two texts that differ in it look the same.
    package var isInvisible: Bool {
        if properties.isDefaultIgnorableCodePoint { return true }
        switch value {
        // Letters and symbols without ink.
        case 0x2800, 0x16FE4, 0x1D159: return true
        default: return properties.generalCategory == .spaceSeparator && value != 0x20
        }
    }

    /// Whether it is an emoji by itself, unlike digits.
    fileprivate var isPictograph: Bool { value > 0x7F && properties.isEmoji }
}

extension String {
    /// The text with every character that `isHidden` escaped, as `\u{…}`. Characters within an emoji are kept, and a space between
    /// two visible characters is: there, it shows.
    package func escaping(_ isHidden: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isHidden) else { return self }
        let scalars = Array(unicodeScalars)
        var text = ""
        for (index, scalar) in scalars.enumerated() {
            if isHidden(scalar), !String.shows(index, of: scalars) {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func shows(_ index: Int, of scalars: [Unicode.Scalar]) -> Bool {
        guard index > 0 else { return false }
        let before = scalars[index - 1]
        let after = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalars[index].value {
        // Emoji that are joined into one: the first may end in a variation selector.
        case 0x200D: return (before.isPictograph || before.value == 0xFE0F) && after?.isPictograph == true
        // An emoji in colour, or a digit on a key.
        case 0xFE0F: return before.isPictograph || before.properties.isEmoji && after?.value == 0x20E3
        default:
            guard scalars[index].properties.generalCategory == .spaceSeparator, let after else {
                return false
            }
            return !isBlank(before) && !isBlank(after)
        }
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isInvisible || scalar.isTricky || scalar.properties.isWhitespace
    }
}
