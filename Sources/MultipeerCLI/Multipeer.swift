import Multipeer

/// The command `multipeer`: finds the subcommand, runs it, and ends with its exit code.
@main
package enum Multipeer {
    package static let version = "0.1.0"

    static func main() {
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

    private static func run(_ words: [String]) async throws(CommandError) {
        if try answer(words) { return }
        let (usage, rest) = try CommandCatalog.find(words)
        let arguments = try Arguments(rest, for: usage)
        if arguments.wantsHelp { return try Terminal.put(usage.help) }
        switch usage.path {
        case IdentityNewCommand.usage.path: try IdentityNewCommand.run(arguments)
        case IdentityShowCommand.usage.path: try IdentityShowCommand.run(arguments)
        case DataInspectCommand.usage.path: try DataInspectCommand.run(arguments)
        case LinkCommand.usage.path: try await LinkCommand.run(arguments)
        case ChatCommand.usage.path: try await ChatCommand.run(arguments)
        case SendCommand.usage.path: try await SendCommand.run(arguments)
        case ReceiveCommand.usage.path: try await ReceiveCommand.run(arguments)
        case BrowseCommand.usage.path: try await BrowseCommand.run(arguments)
        case AdvertiseCommand.usage.path: try await AdvertiseCommand.run(arguments)
        case InviteCommand.usage.path: try await InviteCommand.run(arguments)
        case DoctorCommand.usage.path: try await DoctorCommand.run(arguments)
        case DemoCommand.usage.path: try await DemoCommand.run(arguments)
        case ShimCommand.usage.path: try await ShimCommand.run(arguments)
        case DemoPeerCommand.usage.path: try await DemoPeerCommand.run(arguments)
        case ConformListCommand.usage.path: try ConformListCommand.run(arguments)
        case ConformRunCommand.usage.path: try await ConformRunCommand.run(arguments)
        case ConformReproCommand.usage.path: try await ConformReproCommand.run(arguments)
        case ConformSelftestCommand.usage.path: try await ConformSelftestCommand.run(arguments)
        case ConformPeerCommand.usage.path: try await ConformPeerCommand.run(arguments)
        default: throw .usage("unknown command", try: "multipeer")
        }
    }

    /// Handles what every command line tool has, such as `--version`; returns false for anything else.
    private static func answer(_ words: [String]) throws(CommandError) -> Bool {
        switch words.first {
        case nil: throw CommandError("no command given", hint: "try 'multipeer --help'", exit: .usage)
        case "--version", "version": try Terminal.put("multipeer \(version)\n")
        case "--help", "-h": try Terminal.put(CommandCatalog.overview)
        case "help": try Terminal.put(CommandCatalog.help(for: Array(words.dropFirst())))
        default: return false
        }
        return true
    }
}
