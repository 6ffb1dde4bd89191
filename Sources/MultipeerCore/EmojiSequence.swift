/// The invisible characters within emoji, where they change what is shown: UTS 51, section 1.4. Anywhere else they show nothing,
/// and two texts that differ in one of them look the same.
///
/// Each is judged by its neighbours, at most six of them: text of any length takes linear time.
enum EmojiSequence {
    /// Returns whether the scalar at `index` is such a character and stands where it belongs. `isName`: only what also may stand
    /// in a name, where a black flag must not be taken for another one, nor a black heart for another one.
    static func joins(_ index: Int, of scalars: [Unicode.Scalar], isName: Bool) -> Bool {
        guard index > 0 else { return false }
        let before = scalars[index - 1]
        let after = index + 1 < scalars.count ? scalars[index + 1] : nil
        switch scalars[index].value {
        // Emoji that are joined into one: the first may end in a variation selector or a skin tone.
        case 0x200D:
            guard after?.isPictograph == true else { return false }
            let isSelected = before.value == 0xFE0F && index > 1 && scalars[index - 2].isPictograph
            return isSelected || before.isPictograph || before.properties.isEmojiModifier
        // An emoji in colour, or a digit on a key.
        case 0xFE0F: return before.isPictograph || before.properties.isEmoji && after?.value == 0x20E3
        // An emoji without colour.
        case 0xFE0E: return !isName && before.isPictograph
        case 0xE0020...0xE007F: return !isName && isFlag(around: index, scalars)
        default: return false
        }
    }

    /// The flags of a part of a country: a black flag, the letters of its code as tags, and the end of the tags. Unicode
    /// recommends these three.
    private static let flags = ["gbeng", "gbsct", "gbwls"].map { code in
        code.unicodeScalars.map { $0.value + 0xE0000 } + [0xE007F]
    }

    private static func isFlag(around index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        let earliest = max(0, index - 6)
        guard let start = scalars[earliest..<index].lastIndex(where: { $0.value == 0x1F3F4 }) else {
            return false
        }
        let tags = scalars[(start + 1)...].prefix(6).map(\.value)
        return flags.contains(tags)
    }
}

extension Unicode.Scalar {
    /// Whether it is an emoji by itself, unlike digits, half a flag and skin tones.
    fileprivate var isPictograph: Bool {
        value > 0x7F && properties.isEmoji && !properties.isEmojiModifier
            && !(0x1F1E6...0x1F1FF).contains(value)
    }
}
