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
        // The signs of Arabic, Syriac and Kaithi that enclose numbers, which have ink.
        case 0x600...0x605, 0x6DD, 0x70F, 0x890...0x891, 0x8E2, 0x110BD, 0x110CD: return false
        default: break
        }
        switch properties.generalCategory {
        case .spaceSeparator: return value != 0x20
        case .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is drawn over the character before it.
    package var isMark: Bool {
        value >= 0x300 && [.nonspacingMark, .enclosingMark].contains(properties.generalCategory)
    }

    /// The most marks on one character: more cover the lines above and below.
    fileprivate static let mostMarks = 4

    /// The scalar as it is shown where it must have no effect.
    package var escaped: String { "\\u{" + String(value, radix: 16) + "}" }

    /// Returns whether the scalar at `index` shows although it usually does not: within an emoji, or as a space between two
    /// visible characters. `isName`: whether the text is a name.
    package static func isShown(at index: Int, of scalars: [Unicode.Scalar], isName: Bool) -> Bool {
        if EmojiSequence.joins(index, of: scalars, isName: isName) { return true }
        guard scalars[index].properties.generalCategory == .spaceSeparator, index > 0,
            index + 1 < scalars.count
        else { return false }
        return !scalars[index - 1].isBlank && !scalars[index + 1].isBlank
    }

    private var isBlank: Bool { isInvisible || isTricky || properties.isWhitespace }
}

extension String {
    /// The text with every character that `isHidden` escaped, as `\u{…}`, unless it shows where it stands, and with no more marks
    /// on one character than a script needs. `isName`: whether the text is a name.
    package func escaping(isName: Bool = true, _ isHidden: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: { isHidden($0) || $0.isMark }) else { return self }
        return replacing(isName: isName, with: \.escaped) { isHidden($0) && !$1() }
    }

    /// The text with something else for each scalar for which `isUnfit`, and for marks beyond those that a script needs. The closure
    /// gets a scalar, and a function that says whether it shows where it stands although it usually does not.
    package func replacing(
        isName: Bool = true, with replacement: (Unicode.Scalar) -> String,
        _ isUnfit: (Unicode.Scalar, () -> Bool) -> Bool
    ) -> String {
        let scalars = Array(unicodeScalars)
        var text = ""
        var marks = 0
        for (index, scalar) in scalars.enumerated() {
            marks = scalar.isMark ? marks + 1 : 0
            let isShown = { Unicode.Scalar.isShown(at: index, of: scalars, isName: isName) }
            if marks > Unicode.Scalar.mostMarks || isUnfit(scalar, isShown) {
                text += replacement(scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
