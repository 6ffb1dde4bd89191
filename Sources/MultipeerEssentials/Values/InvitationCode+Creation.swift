public import MultipeerCore
public import MultipeerTransport

extension InvitationCode {
    /// Reads a code as a user typed it: `7-guitar-island`, with spaces or hyphens, in upper or lower case. The
    /// beginning of a word is enough if no other word of codes begins with it.
    ///
    /// - Parameter text: The typed text.
    /// - Throws: `invalidArgument` when it is not a code; the text says why, and which word may have been meant. Nothing is sent for
    ///   a mistyped word.
    public init(_ text: String) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidArgument) { () throws(InvalidInvitationCode) in
            try InvitationCode(parsing: text)
        }
    }

    /// Creates a code from the random numbers of the system.
    ///
    /// - Parameter words: How many words it has: 2 for a code that is used once, 3 for one that stays valid.
    /// - Returns: the code.
    public static func random(words: Int = 2) -> InvitationCode {
        var randomness = SystemRandomness()
        return random(words: words, using: &randomness)
    }
}
