import MultipeerEssentials

extension String {
    /// A name, or a text that contains one, with everything escaped that could spoof terminal output: control characters, line
    /// separators, the characters that change the direction of text, and those that are invisible or blank. Emoji are kept.
    package var printable: String { escaping { $0.isHidden } }

    /// A message, for which the same holds. Its emoji may also be without colour, or flags of a part of a country: in a name,
    /// these could be taken for other ones.
    package var printableText: String { escaping(isName: false) { $0.isHidden } }
}

extension Unicode.Scalar {
    /// Whether it is escaped where it does not show.
    package var isHidden: Bool { isTricky || isInvisible }
}
