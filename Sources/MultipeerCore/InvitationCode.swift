/// A short code that proves to each of two peers that the other one has it: a number and words, such as
/// `7-guitar-island`. Spec 13.8.
///
/// One user reads it to the other. The number is public: an advertiser announces it, so that it is found. The words
/// are the secret. An attacker can try one combination of words and not more before both users are notified.
public struct InvitationCode: Hashable, Sendable {
    /// The numbers that a code may have.
    public static let numbers = 1...999
    /// How many words a code may have: two are 20 bits.
    public static let wordCounts = 2...8

    /// How often an advertised code may be used.
    public enum Validity: Hashable, Sendable {
        /// Until one peer has used it, or one wrong guess was made. Two words are enough.
        case once
        /// As long as it is advertised; wrong guesses make it pause. It should have three words or more.
        case repeated
    }

    /// The number under which the code is found, 1 to 999.
    public let number: Int
    /// The words, each in full and in lower case.
    public let words: [String]

    init(unchecked number: Int, _ words: [String]) {
        self.number = number
        self.words = words
    }

    /// Creates a random code.
    ///
    /// - Parameters:
    ///   - count: how many words it has, 2 to 8; other counts are replaced by the nearest of these.
    ///   - generator: a source of random numbers that is fit for secrets.
    /// - Returns: the code.
    public static func random(
        words count: Int = 2, using generator: inout some RandomNumberGenerator
    ) -> InvitationCode {
        let count = min(max(count, wordCounts.lowerBound), wordCounts.upperBound)
        let list = CodeWords.all
        let words = (0..<count).map { _ in list[Int.random(in: list.indices, using: &generator)] }
        return InvitationCode(unchecked: .random(in: numbers, using: &generator), words)
    }

    /// The words as the password is made of them: in lower case, with `-` in between.
    package var phrase: String { words.joined(separator: "-") }
}

extension InvitationCode: CustomStringConvertible {
    /// The code as a user reads and types it: `7-guitar-island`. It is a secret.
    public var description: String { "\(number)-\(phrase)" }
}
