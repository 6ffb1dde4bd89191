/// What Tab adds to a line: names after an at sign and after the commands that take one, and commands after a slash.
package struct LineCompletion: Equatable, Sendable {
    /// The labels of the peers that are here.
    package var names: [String] = []
    /// With their slashes.
    package let commands: [String]
    /// The commands that a name follows.
    package let commandsWithName: [String]

    package struct Choices: Equatable, Sendable {
        /// The part before the cursor that a choice replaces, in characters.
        package let length: Int
        /// In order.
        package let words: [String]
    }

    package init(commands: [String] = [], commandsWithName: [String] = []) {
        self.commands = commands
        self.commandsWithName = commandsWithName
    }

    /// Returns what may stand in place of the end of the text before the cursor; nil where nothing is completed.
    package func choices(for text: String) -> Choices? {
        if text.hasPrefix("/") {
            guard let space = text.firstIndex(of: " ") else { return matches(Substring(text), commands) }
            guard commandsWithName.contains(String(text[..<space])) else { return nil }
            return matches(text[text.index(after: space)...], names)
        }
        guard let sign = text.lastIndex(of: "@"),
            sign == text.startIndex || text[text.index(before: sign)] == " "
        else { return nil }
        return matches(text[text.index(after: sign)...], names)
    }

    /// Names match without case.
    private func matches(_ typed: Substring, _ words: [String]) -> Choices? {
        let folded = typed.lowercased()
        let found = words.filter { $0.lowercased().hasPrefix(folded) }.sorted()
        return found.isEmpty ? nil : Choices(length: typed.count, words: found)
    }
}

extension LineCompletion.Choices {
    /// What all of them begin with, in the spelling of the first.
    package var common: String {
        guard let first = words.first else { return "" }
        let length = words.map { word in zip(first, word).prefix { $0.lowercased() == $1.lowercased() }.count
        }.min()
        return String(first.prefix(length ?? 0))
    }
}
