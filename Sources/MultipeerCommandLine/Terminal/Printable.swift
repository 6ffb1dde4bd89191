import Multipeer

extension String {
    /// The text with everything escaped that could spoof terminal output: control characters, line separators, the characters that
    /// change the direction of text, and those that are invisible or blank.
    package var printable: String { escaping { $0.isTricky || $0.isInvisible } }
}
