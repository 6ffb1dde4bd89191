extension String {
    /// The number of terminal columns of the text.
    package var columns: Int { reduce(0) { $0 + $1.columns } }
}

extension Character {
    /// The number of columns on a terminal that shows an emoji of several characters as one: two for it and for the wide
    /// characters of East Asia, zero for combining marks.
    package var columns: Int {
        let scalars = unicodeScalars
        guard let first = scalars.first else { return 0 }
        // A digit on a key is narrow without its selector, like every emoji that is text by default.
        if scalars.dropFirst().contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiModifier }) {
            return 2
        }
        if scalars.count > 1, first.isHalfFlag { return 2 }
        return first.columns
    }

    /// The same on a terminal that shows each of them. What must fit on a line is measured in these.
    package var mostColumns: Int {
        max(columns, unicodeScalars.reduce(0) { $0 + ($1.isHalfFlag ? 2 : $1.columns) })
    }
}

extension Unicode.Scalar {
    /// The standard library knows what an emoji is, but not the property East_Asian_Width, whose wide ranges these are.
    fileprivate var columns: Int {
        switch value {
        case 0x20...0x7E, 0xA0...0x2FF: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF,
            0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6,
            0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            return 2
        // The vowels and final consonants of a Korean syllable stand within it.
        case 0x1160...0x11FF: return 0
        default: break
        }
        if properties.isEmojiPresentation { return isHalfFlag ? 1 : 2 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: return 1
        }
    }

    /// Whether it is a letter that makes a flag together with another one.
    fileprivate var isHalfFlag: Bool { (0x1F1E6...0x1F1FF).contains(value) }
}
