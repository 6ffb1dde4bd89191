import MultipeerEssentials

/// A program of one or more commands: finds the command, runs it, and ends with its exit code.
package struct CommandProgram: Sendable {
    package static let version = LibraryVersion.text

    /// The name of the program, as it is typed.
    package let name: String
    /// What the program is for, one line.
    let summary: String
    private let commands: [any Subcommand.Type]
    /// What most people do first, for the overview.
    let examples: String
    /// The files that the commands read and write by themselves, and the variables that they heed, with what each is for.
    let files: [(String, String)]
    let variables: [(String, String)]
    /// Commands that are started by other commands, not by people.
    private let hidden: [any Subcommand.Type]
    /// Returns what a word that is no command may have been meant for, such as `multipeer send photo.jpg`.
    private let meaning: @Sendable (String) -> String?

    /// A program with one command that has an empty path runs that command when no other is named.
    package init(
        _ name: String, _ summary: String, _ commands: [any Subcommand.Type],
        hidden: [any Subcommand.Type] = [], examples: String = "", files: [(String, String)] = [],
        variables: [(String, String)] = [],
        meaning: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.meaning = meaning
        self.examples = examples
        self.files = files
        self.variables = variables
        self.name = name
        self.summary = summary
        self.commands = commands
        self.hidden = hidden
    }

    /// Runs the process to its end.
    package func main() -> Never {
        Terminal.program.withLock { $0 = name }
        Environment.ignoreOpenSSLConfiguration()
        SignalHandler.block()
        SystemThread.check()
        // Detached: this function belongs to the main actor, and most of what follows does not.
        Task.detached {
            do throws(CommandError) {
                try await run(CommandProgram.words(Environment.words))
                await SignalHandler.yield()
                Terminal.leave(.success)
            } catch {
                await SignalHandler.yield()
                Terminal.warn("\(error)")
                Terminal.leave(error.exit)
            }
        }
        SignalHandler.serve()
    }

    /// Returns the words after the name of the program.
    private static func words(_ all: [String?]) throws(CommandError) -> [String] {
        var words: [String] = []
        for word in all.dropFirst() {
            guard let word else {
                let text = "argument \(words.count + 1) is not UTF-8"
                throw CommandError(text, hint: "a file of such a name has to be renamed", exit: .usage)
            }
            words.append(word)
        }
        return words
    }

    private func run(_ words: [String]) async throws(CommandError) {
        if try answer(words) { return }
        let (command, rest) = try find(words)
        let arguments = try Arguments(rest, for: command.usage)
        if arguments.wantsHelp { return try Terminal.put(command.usage.help(width: Columns.ofOutput)) }
        try await command.run(arguments)
    }

    /// Handles what every command line tool has, such as `--version`; returns false for anything else.
    private func answer(_ words: [String]) throws(CommandError) -> Bool {
        switch words.first {
        case "--version", "-V", "version": try Terminal.put("\(name) \(CommandProgram.version)\n")
        case "--help", "-h": try Terminal.put(overview(width: Columns.ofOutput))
        case "help":
            let topics = words.dropFirst().filter { $0 != CommandProgram.whole }
            try Terminal.put(
                help(
                    for: Array(topics), isWhole: topics.count < words.count - 1, width: Columns.ofOutput))
        case CommandProgram.completionScript?: try putCompletions(words)
        case CommandProgram.manualPages?: try writeManual(words)
        case let group? where words.count == 2 && ["--help", "-h"].contains(words[1]):
            guard let text = help(of: group) else { return false }
            try Terminal.put(text)
        default: return false
        }
        return true
    }

    /// The command of a program that has only one.
    private var defaultCommand: (any Subcommand.Type)? { commands.first { $0.usage.path.isEmpty } }
}

// MARK: completions and the manual

extension CommandProgram {
    private static let completionScript = "--generate-completion-script"
    private static let manualPages = "--generate-manual"

    private func putCompletions(_ words: [String]) throws(CommandError) {
        guard words.count == 2, let shell = Shell(rawValue: words[1]) else {
            let shells = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("\(CommandProgram.completionScript) takes one of \(shells)", try: name)
        }
        try Terminal.put(completions(for: shell))
    }

    /// Writes a page for each command into a folder. Their date is that of SOURCE_DATE_EPOCH, so that two builds agree, or today's.
    private func writeManual(_ words: [String]) throws(CommandError) {
        guard words.count == 2 else {
            throw .usage("\(CommandProgram.manualPages) takes one directory, which exists", try: name)
        }
        let epoch = Environment.value("SOURCE_DATE_EPOCH").flatMap(Int.init)
        for page in manual(date: String(LocalTime.universal(epoch ?? time(nil)).prefix(10))) {
            try AtomicFile.publish(Array(page.text.utf8), to: "\(words[1])/\(page.file)")
        }
    }
}

// MARK: commands and their help

extension CommandProgram {
    /// The usage of each command, in the order of the overview.
    package var usages: [Usage] { commands.map { $0.usage } }

    /// After `help`: everything there is to say.
    private static let whole = "--all"

    /// Returns what `--help` prints without a command, which fits a terminal of 80 columns and 24 lines.
    package func overview(width: Int, isWhole: Bool = false) -> String {
        if let usage = defaultCommand?.usage {
            return isWhole ? usage.wholeHelp(width: width) : usage.help(width: width)
        }
        let rows = usages.map { ($0.path.joined(separator: " "), $0.summary) }
        var paragraphs = ["usage: \(name) COMMAND [options]\n\(summary)", examples]
        paragraphs.append("commands:\n" + Columns.lines(rows, width: width))
        if isWhole {
            paragraphs.append("exit codes:\n" + Columns.lines(exits, width: width))
            for (title, rows) in [("files", files), ("variables", variables)] where !rows.isEmpty {
                paragraphs.append("\(title):\n" + Columns.lines(rows, width: width))
            }
            let shells = Shell.allCases.map(\.rawValue).joined(separator: ", ")
            let rows = [
                ("\(CommandProgram.completionScript) SHELL", "print the completions for \(shells)"),
                ("\(CommandProgram.manualPages) DIR", "write the pages of the manual into DIR"),
            ]
            paragraphs.append("for packages:\n" + Columns.lines(rows, width: width))
        }
        paragraphs.append("'\(name) help COMMAND' explains a command, with --all in full.")
        return paragraphs.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    /// The exit codes that at least one command has, and their meanings in this program.
    var exits: [(String, String)] {
        ExitCode.allCases.compactMap { code in
            let users = usages.filter { [.success, .usage].contains(code) || $0.exits.contains(code) }
            guard !users.isEmpty else { return nil }
            let special = code == .success ? nil : users.lazy.compactMap { $0.meanings[code] }.first
            return ("\(code.rawValue)", special ?? code.meaning)
        }
    }

    /// Returns the help of the command, or of the group of commands, with this name.
    package func help(
        for words: [String], isWhole: Bool = false, width: Int = Columns.standardWidth
    ) throws(CommandError) -> String {
        if words.isEmpty { return overview(width: width, isWhole: isWhole) }
        if let usage = usages.first(where: { $0.path == words }) {
            return isWhole ? usage.wholeHelp(width: width) : usage.help(width: width)
        }
        if words.count == 1, let group = help(of: words[0]) { return group }
        throw unknown(words.joined(separator: " "), try: name)
    }

    private func unknown(_ words: String, try command: String) -> CommandError {
        let text = "unknown command '\(words.printable)'"
        if let meant = meaning(words) {
            return CommandError(text, hint: "did you mean '\(meant.printable)'?", exit: .usage)
        }
        let names = usages.map { $0.path.joined(separator: " ") }.filter { !$0.isEmpty }
        guard let meant = Spelling.nearest(words, of: names) else { return .usage(text, try: command) }
        return CommandError(text, hint: "did you mean '\(name) \(meant)'?", exit: .usage)
    }

    /// Returns the command at the beginning of the words, and the remaining words.
    private func find(_ words: [String]) throws(CommandError) -> ((any Subcommand.Type), rest: [String]) {
        let named = (hidden + commands).filter { !$0.usage.path.isEmpty && words.starts(with: $0.usage.path) }
        if let command = named.first ?? defaultCommand {
            return (command, Array(words.dropFirst(command.usage.path.count)))
        }
        guard let first = words.first else { throw .usage("no command given", try: name) }
        if let command = commands.first(where: { $0.isImplied(by: words) }) { return (command, words) }
        if first.begins(with: "-") { throw .usage("unknown option '\(first.printable)'", try: name) }
        guard help(of: first) != nil else {
            throw unknown(first, try: name)
        }
        guard let second = words.dropFirst().first else {
            throw .usage("'\(first)' needs a subcommand", try: "\(name) \(first)")
        }
        throw unknown("\(first) \(second)", try: "\(name) \(first)")
    }

    /// Returns the help of a group, which is the first word of several commands and not a command itself.
    private func help(of group: String) -> String? {
        let members = usages.filter { $0.path.count > 1 && $0.path[0] == group }
        guard !members.isEmpty else { return nil }
        return Usage(
            [group], operands: "COMMAND", "\(group) commands",
            details: "commands:\n"
                + Columns.lines(members.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) })
        ).wholeHelp(width: Columns.ofOutput)
    }
}
