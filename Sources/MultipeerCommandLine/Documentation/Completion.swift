extension Usage {
    /// What a shell suggests for an operand, or for the value of an option.
    package enum Completion: Equatable, Sendable {
        case none
        case files
        /// A file after `@`.
        case filesAfterAt
        case directories
        case words([String])

        /// Returns what the placeholder of a help text means.
        init(placeholder: String) {
            let names = placeholder.split { !$0.isLetter && $0 != "@" }
            if names.contains("@FILE") {
                self = .filesAfterAt
            } else if names.contains("FILE") || names.contains("REPORT") {
                self = .files
            } else {
                self = names.contains("DIR") ? .directories : .none
            }
        }
    }

    /// What a shell suggests for the operands.
    package var completion: Completion { words.isEmpty ? Completion(placeholder: operands) : .words(words) }
}

extension Usage.Option {
    /// What a shell suggests for the value.
    package var completion: Usage.Completion {
        words.isEmpty ? Usage.Completion(placeholder: value ?? "") : .words(words)
    }

    /// All spellings: with one letter, if there is one, and in full.
    package var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [name] }
}

extension CommandProgram {
    /// A shell for which the program writes completions.
    package enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// Returns the completions for a shell, from the definitions that the help has.
    package func completions(for shell: Shell) -> String {
        switch shell {
        case .bash: BashCompletions(self).text
        case .zsh: ZshCompletions(self).text
        case .fish: FishCompletions(self).text
        }
    }

    /// A function of a shell has no hyphen in its name.
    var functionName: String { "_" + name.map { $0 == "-" ? "_" : String($0) }.joined() }

    /// The commands that are named by one word, and the groups, with their summaries, in the order of the overview.
    var firstWords: [(word: String, summary: String)] {
        var words: [(word: String, summary: String)] = []
        for usage in usages {
            guard let first = usage.path.first, !words.contains(where: { $0.word == first }) else { continue }
            words.append((first, usage.path.count > 1 ? "\(first) commands" : usage.summary))
        }
        return words + [("help", "explain a command")]
    }

    /// The groups, and the usages of their commands.
    var groups: [(word: String, members: [Usage])] {
        firstWords.compactMap { word, _ in
            let members = usages.filter { $0.path.count > 1 && $0.path[0] == word }
            return members.isEmpty ? nil : (word, members)
        }
    }

    /// What the shells suggest before any command.
    static let ownOptions = [
        Usage.Option("--help", short: "h", "show the commands"),
        Usage.Option("--version", short: "V", "show the version"),
    ]
}
