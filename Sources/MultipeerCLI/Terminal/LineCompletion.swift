import MultipeerEssentials

/// What Tab adds to a line: names after an at sign and after the commands that take one, commands after a slash, and paths after the
/// commands that take one.
package struct LineCompletion: Equatable, Sendable {
    /// The labels of the peers that are here.
    package var names: [String] = []
    /// With their slashes.
    package let commands: [String]
    /// The commands that a name follows.
    package let commandsWithName: [String]
    /// The commands that a path follows, and a name after it.
    package let commandsWithPath: [String]
    /// What relative paths begin at.
    package var folder = "."

    package struct Choices: Equatable, Sendable {
        /// The part before the cursor that a choice replaces, in characters.
        package let length: Int
        /// In order.
        package let words: [String]
        /// Whether their case matters.
        package var isExact = false
    }

    package init(commands: [String] = [], commandsWithName: [String] = [], commandsWithPath: [String] = []) {
        self.commands = commands
        self.commandsWithName = commandsWithName
        self.commandsWithPath = commandsWithPath
    }

    /// Returns what may stand in place of the end of the text before the cursor; nil where nothing is completed.
    package func choices(for text: String) -> Choices? {
        if text.begins(with: "/") {
            guard let space = text.firstPosition(of: " ") else { return matches(Substring(text), commands) }
            let (command, rest) = (String(text[..<space]), text[text.index(after: space)...])
            if commandsWithPath.contains(command) { return paths(rest) }
            return commandsWithName.contains(command) ? matches(rest, names) : nil
        }
        guard let sign = text.lastPosition(of: "@"),
            sign == text.startIndex || text[text.index(before: sign)] == " "
        else { return nil }
        return matches(text[text.index(after: sign)...], names)
    }

    /// Paths may contain spaces, as names may: a name follows a path that is there.
    private func paths(_ typed: Substring) -> Choices? {
        let completion = PathCompletion(folder: folder)
        if let choices = completion.choices(for: String(typed)) { return choices }
        guard let space = typed.lastPosition(of: " "), completion.isThere(String(typed[..<space])) else {
            return nil
        }
        return matches(typed[typed.index(after: space)...], names)
    }

    /// Names match without case.
    private func matches(_ typed: Substring, _ words: [String]) -> Choices? {
        let folded = typed.lowercased()
        let found = words.filter { $0.lowercased().begins(with: folded) }.sorted()
        return found.isEmpty ? nil : Choices(length: typed.count, words: found)
    }
}

extension LineCompletion.Choices {
    /// What all of them begin with, in the spelling of the first.
    package var common: String {
        guard let first = words.first else { return "" }
        let length = words.map { word in
            zip(first, word).prefix { isExact ? $0 == $1 : $0.lowercased() == $1.lowercased() }.count
        }.min()
        return String(first.prefix(length ?? 0))
    }
}
