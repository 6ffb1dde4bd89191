extension InvitationCode {
    /// Reads what a user typed or pasted: a number and words with spaces or hyphens between them, in upper or lower case. The
    /// beginning of a word is enough if no other word begins with it.
    package init(parsing text: String) throws(InvalidInvitationCode) {
        let parts = InvitationCode.parts(of: text)
        guard let first = parts.first, let number = InvitationCode.number(in: first.utf8) else {
            throw .number(parts.first ?? "")
        }
        let typed = parts.dropFirst()
        guard InvitationCode.wordCounts.contains(typed.count) else { throw .wordCount(typed.count) }
        var words: [String] = []
        for part in typed { words.append(try InvitationCode.word(part)) }
        self.init(unchecked: number, words)
    }

    /// Returns what is between hyphens and spaces, in lower case. What programs make of those is one of them: dashes, quotation marks
    /// and spaces of all kinds, and what is invisible.
    package static func parts(of text: String) -> [String] {
        text.unicodeScalars.split(whereSeparator: isSeparator).map { String($0).lowercased() }
    }

    /// Returns whether words are meant to be a code, mistyped or not: they begin with a number of up to three digits, whatever a
    /// program has made of the hyphens, or two words of codes or more follow something as short as a number. Digits of other scripts
    /// are meant so, too, and then there is no code.
    package static func isMeant(by words: [String]) -> Bool {
        guard let first = words.lazy.flatMap(parts).first else { return false }
        if isNumber(first[...]) { return true }
        var pieces = words.flatMap { word in
            word.lowercased().unicodeScalars.split { !$0.properties.isAlphabetic && !isDigit($0) }.map(
                Substring.init)
        }
        guard let head = pieces.first else { return false }
        let rest = Substring(head.unicodeScalars.drop(while: isDigit))
        guard isNumber(head[..<rest.startIndex]) || head.unicodeScalars.count <= 4 else { return false }
        // 7guitar-island is one, and so is 7x-guitar-island.
        if CodeWords.all.contains(String(rest)) { pieces[0] = rest } else { pieces.removeFirst() }
        pieces.removeFirst(pieces.prefix(while: isNumber).count)
        return wordCounts.contains(pieces.count) && pieces.allSatisfy { CodeWords.all.contains(String($0)) }
    }

    private static func isNumber(_ text: Substring) -> Bool {
        let digits = text.unicodeScalars
        return (1...3).contains(digits.count) && digits.allSatisfy(isDigit)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.numericType == .decimal
    }

    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .dashPunctuation, .initialPunctuation, .finalPunctuation, .spaceSeparator, .lineSeparator,
            .paragraphSeparator, .control, .format:
            true
        default: otherSeparators.contains(scalar)
        }
    }

    /// The minus sign, and quotation marks of other categories.
    private static let otherSeparators: Set<Unicode.Scalar> = [
        "\u{2212}", "\"", "'", "`", "\u{B4}", "\u{201A}", "\u{201E}", "\u{FF02}", "\u{FF07}",
    ]

    /// Reads the number of a code: one to three decimal digits, 1 to 999.
    package static func number(in digits: some Collection<UInt8>) -> Int? {
        guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let number = digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
        return numbers.contains(number) ? number : nil
    }

    private static func word(_ typed: String) throws(InvalidInvitationCode) -> String {
        let matches = CodeWords.all.filter { $0.begins(with: typed) }  // [code.words]
        if let exact = matches.first(where: { $0 == typed }) { return exact }
        if matches.count == 1 { return matches[0] }
        guard matches.isEmpty else { throw .ambiguous(typed, Array(matches.prefix(3))) }
        throw .word(typed, suggestion: suggestion(for: typed))
    }

    /// Returns the only word that is one mistake away.
    private static func suggestion(for typed: String) -> String? {
        guard typed.utf8.count <= 12 else { return nil }
        let near = CodeWords.all.filter { isOneEdit(Array(typed.utf8), from: Array($0.utf8)) }
        return near.count == 1 ? near[0] : nil
    }

    /// Returns whether one letter was changed, left out or added, or two neighbours were exchanged.
    private static func isOneEdit(_ one: [UInt8], from other: [UInt8]) -> Bool {
        let start = zip(one, other).prefix { $0 == $1 }.count
        let (rest, otherRest) = (one[start...], other[start...])
        switch rest.count - otherRest.count {
        case 1: return rest.dropFirst().elementsEqual(otherRest)
        case -1: return otherRest.dropFirst().elementsEqual(rest)
        case 0:
            if rest.dropFirst().elementsEqual(otherRest.dropFirst()) { return true }
            guard rest.count >= 2 else { return false }
            return rest[start] == otherRest[start + 1] && rest[start + 1] == otherRest[start]
                && rest.dropFirst(2).elementsEqual(otherRest.dropFirst(2))
        default: return false
        }
    }
}

/// Why a text is not a code. The descriptions contain what was typed, for the user who typed it.
package enum InvalidInvitationCode: Error, Equatable, Sendable {
    /// It does not begin with a number from 1 to 999.
    case number(String)
    /// It has too few or too many words.
    case wordCount(Int)
    /// This is not a word of the list.
    case word(String, suggestion: String?)
    /// Several words begin like this.
    case ambiguous(String, [String])
}

extension InvalidInvitationCode: CustomStringConvertible {
    package var description: String {
        switch self {
        case .number: "a code begins with a number from 1 to 999, such as 7-guitar-island"
        case .wordCount(let count):
            "a code has a number and 2 to 8 words, such as 7-guitar-island, and this one has \(count)"
        case .word(let word, let suggestion):
            "no code has the word \"\(word)\"" + (suggestion.map { "; did you mean \"\($0)\"?" } ?? "")
        case .ambiguous(let word, let matches):
            "\"\(word)\" is the beginning of several words of codes: \(matches.joined(separator: ", "))"
        }
    }
}
