/// All commands, and the help about more than one of them.
package enum CommandCatalog {
    package static let commands = [
        LinkCommand.usage, ChatCommand.usage, SendCommand.usage, ReceiveCommand.usage,
        BrowseCommand.usage, AdvertiseCommand.usage, InviteCommand.usage, DoctorCommand.usage,
        DataInspectCommand.usage,
        IdentityNewCommand.usage, IdentityShowCommand.usage,
        DemoCommand.usage,
        ConformListCommand.usage, ConformRunCommand.usage, ConformReproCommand.usage,
        ConformSelftestCommand.usage, ConformPeerCommand.usage,
        ShimCommand.usage,
    ]
    /// Commands that are started by other commands, not by people.
    private static let hidden = [DemoPeerCommand.usage]

    package static var overview: String {
        let rows = commands.map { ($0.path.joined(separator: " "), $0.summary) }
        let more = [("help COMMAND", "show help for a command"), ("version", "show the version")]
        return """
            usage: multipeer COMMAND [options]

            Link peers directly over encrypted connections, without a server.

            commands:
            \(Columns.lines(rows + more))

            Every command takes --help. Exit codes of all commands:
            \(Columns.lines(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }))

            """
    }

    /// Returns the help of the command, or of the group of commands, with this name.
    package static func help(for words: [String]) throws(CommandError) -> String {
        if words.isEmpty { return overview }
        if let usage = commands.first(where: { $0.path == words }) { return usage.help }
        if let group = group(words) { return group }
        throw .usage("unknown command '\(words.joined(separator: " ").printable)'", try: "multipeer")
    }

    /// Returns the command at the beginning of the words, and the remaining words.
    package static func find(_ words: [String]) throws(CommandError) -> (usage: Usage, rest: [String]) {
        for usage in commands + hidden where words.starts(with: usage.path) {
            return (usage, Array(words.dropFirst(usage.path.count)))
        }
        guard let first = words.first else { throw .usage("no command given", try: "multipeer") }
        if first.hasPrefix("-") { throw .usage("unknown option '\(first.printable)'", try: "multipeer") }
        guard group([first]) != nil else {
            throw .usage("unknown command '\(first.printable)'", try: "multipeer")
        }
        switch words.dropFirst().first {
        case nil: throw .usage("'\(first)' needs a subcommand", try: "multipeer \(first)")
        case "--help", "-h": return (Usage(group: first, commands), ["--help"])
        case let second?:
            throw .usage("unknown command '\(first) \(second.printable)'", try: "multipeer \(first)")
        }
    }

    private static func group(_ words: [String]) -> String? {
        guard words.count == 1, commands.contains(where: { $0.path.count > 1 && $0.path[0] == words[0] })
        else {
            return nil
        }
        return Usage(group: words[0], commands).help
    }
}

extension Usage {
    /// Creates the help of `multipeer GROUP`, which is not a command itself.
    fileprivate init(group: String, _ commands: [Usage]) {
        let members = commands.filter { $0.path.first == group }
        self.init(
            [group], operands: "COMMAND", "\(group) commands",
            details: "commands:\n"
                + Columns.lines(members.map { ($0.path.dropFirst().joined(separator: " "), $0.summary) }))
    }
}
