import Multipeer

/// A program of one or more commands: finds the command, runs it, and ends with its exit code.
package struct CommandProgram: Sendable {
    package static let version = "0.1.0"

    /// The name of the program, as it is typed.
    package let name: String
    /// What the program is for, one line.
    private let summary: String
    private let commands: [any Subcommand.Type]
    /// What most people do first, for the overview.
    private let examples: String
    /// Commands that are started by other commands, not by people.
    private let hidden: [any Subcommand.Type]

    /// A program with one command that has an empty path runs that command when no other is named.
    package init(
        _ name: String, _ summary: String, _ commands: [any Subcommand.Type],
        hidden: [any Subcommand.Type] = [], examples: String = ""
    ) {
        self.examples = examples
        self.name = name
        self.summary = summary
        self.commands = commands
        self.hidden = hidden
    }

    /// Runs the process to its end.
    package func main() -> Never {
        Terminal.program.withLock { $0 = name }
        SignalHandler.block()
        // Detached: this function belongs to the main actor, and most of what follows does not.
        Task.detached {
            do throws(CommandError) {
                try await run(Array(CommandLine.arguments.dropFirst()))
                await SignalHandler.yield()
                Terminal.leave(.success)
            } catch {
                await SignalHandler.yield()
                Terminal.say("\(error)")
                Terminal.leave(error.exit)
            }
        }
        SignalHandler.serve()
    }

    private func run(_ words: [String]) async throws(CommandError) {
        if try answer(words) { return }
        let (command, rest) = try find(words)
        let arguments = try Arguments(rest, for: command.usage)
        if arguments.wantsHelp { return try Terminal.put(command.usage.help) }
        try await command.run(arguments)
    }

    /// Handles what every command line tool has, such as `--version`; returns false for anything else.
    private func answer(_ words: [String]) throws(CommandError) -> Bool {
        switch words.first {
        case "--version", "version": try Terminal.put("\(name) \(CommandProgram.version)\n")
        case "--help", "-h": try Terminal.put(overview)
        case "help": try Terminal.put(help(for: Array(words.dropFirst())))
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

// MARK: commands and their help

extension CommandProgram {
    /// The usage of each command, in the order of the overview.
    package var usages: [Usage] { commands.map { $0.usage } }

    package var overview: String {
        if let defaultCommand { return defaultCommand.usage.help }
        let rows = usages.map { ($0.path.joined(separator: " "), $0.summary) }
        let more = [("help COMMAND", "show help for a command"), ("version", "show the version")]
        return """
            usage: \(name) COMMAND [options]

            \(summary)

            \(examples.isEmpty ? "" : "\(examples)\n\n")commands:
            \(Columns.lines(rows + more))

            Every command takes --help. Exit codes of all commands:
            \(Columns.lines(exits))

            """
    }

    /// The exit codes that at least one command has, and their meanings in this program.
    private var exits: [(String, String)] {
        ExitCode.allCases.compactMap { code in
            let users = usages.filter { [.success, .usage].contains(code) || $0.exits.contains(code) }
            guard !users.isEmpty else { return nil }
            let special = code == .success ? nil : users.lazy.compactMap { $0.meanings[code] }.first
            return ("\(code.rawValue)", special ?? code.meaning)
        }
    }

    /// Returns the help of the command, or of the group of commands, with this name.
    package func help(for words: [String]) throws(CommandError) -> String {
        if words.isEmpty { return overview }
        if let usage = usages.first(where: { $0.path == words }) { return usage.help }
        if words.count == 1, let group = help(of: words[0]) { return group }
        throw .usage("unknown command '\(words.joined(separator: " ").printable)'", try: name)
    }

    /// Returns the command at the beginning of the words, and the remaining words.
    private func find(_ words: [String]) throws(CommandError) -> ((any Subcommand.Type), rest: [String]) {
        let named = (hidden + commands).filter { !$0.usage.path.isEmpty && words.starts(with: $0.usage.path) }
        if let command = named.first ?? defaultCommand {
            return (command, Array(words.dropFirst(command.usage.path.count)))
        }
        guard let first = words.first else { throw .usage("no command given", try: name) }
        if let command = commands.first(where: { $0.isImplied(by: first) }) { return (command, words) }
        if first.hasPrefix("-") { throw .usage("unknown option '\(first.printable)'", try: name) }
        guard help(of: first) != nil else {
            throw .usage("unknown command '\(first.printable)'", try: name)
        }
        guard let second = words.dropFirst().first else {
            throw .usage("'\(first)' needs a subcommand", try: "\(name) \(first)")
        }
        throw .usage("unknown command '\(first) \(second.printable)'", try: "\(name) \(first)")
    }

    /// Returns the help of a group, which is the first word of several commands and not a command itself.
    private func help(of group: String) -> String? {
        let members = usages.filter { $0.path.count > 1 && $0.path[0] == group }
        guard !members.isEmpty else { return nil }
        return Usage(
            [group], operands: "COMMAND", "\(group) commands",
            details: "commands:\n"
                + Columns.lines(members.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) })
        ).help
    }
}
