import Multipeer
import MultipeerCommandLine

/// `multipeer send`: files, one after the other, to one peer.
enum SendCommand: Subcommand {
    private static let mostFiles = 100_000

    static let usage = Usage(
        ["send"], operands: "FILE...", mostOperands: mostFiles, "send files to one peer",
        details: """
            The other side runs 'multipeer receive'. It is found on the network by its name, and its user is asked. It
            is sought for 30 seconds, and its user may think for 120; --timeout says another time for both.

            Names prove nothing: whoever is there can take any. --verify lets both users compare a code before anything
            is sent, --trust tofu notices when somebody else comes under the same id.

            Where multicast does not get through, with --manual, or with --data, --from or --out, both swap their
            connection data instead, one line of base64, by a way that both trust: it holds a secret. Without --data
            and --from, the other side's data is asked for on the terminal, or is the first line of standard input
            where there is no terminal.

            FILE is a path, an http or https address, which is fetched and passed on while it arrives, or - for
            standard input. Directories, FIFOs and devices are refused before anything else is done.

            A file counts as sent when the other side has all of it with the right SHA-256 digest. Interrupting
            either side stops the transfer at both. On a terminal a line shows how far it is. Between two machines:
              multipeer receive --into inbox --name ann
              multipeer send report.pdf photo.jpg --to ann
              tar c folder | multipeer send - --as folder.tar --to ann
            Between two shells, by hand:
              multipeer send report.pdf photo.jpg --out a.data --from b.data
              multipeer receive --into inbox --out b.data --from a.data
            """,
        options: [
            ReceiverFinder.option,
            .init(
                "--as", "LABEL", "what the other side calls the file, instead of the last part of its path"),
            .init("--no-digest", "compute no SHA-256; the link protects what it carries anyway"),
            .init("--verbose", "say what protects the link"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
            ManualExchange.manual,
        ] + DiscoveryOptions.options + PeerConnector.options,
        exits: [.linkFailed, .badInput, .system, .incomplete, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let sources = try sources(arguments)
        let connector = try PeerConnector(arguments, as: .sending(files: sources.count))
        let sender = FileSender(sources, connector, wantsDigest: !arguments.has("--no-digest"))
        SignalHandler.first { await sender.abandon() }
        do throws(CommandError) {
            try await sender.run(to: arguments.value("--to"))
        } catch {
            await sender.abandon()
            throw error
        }
        await connector.leave()
    }

    private static func sources(_ arguments: Arguments) throws(CommandError) -> [TransferSource] {
        let words = arguments.operands
        guard !words.isEmpty else { throw arguments.commandError("FILE is missing") }
        guard words.count(where: { $0 == "-" }) < 2 else {
            throw arguments.commandError("standard input can be sent once")
        }
        let label = arguments.value("--as")
        guard label == nil || words.count == 1 else {
            throw arguments.commandError("option '--as' names one file, not \(words.count)")
        }
        var sources: [TransferSource] = []
        for word in words { sources.append(try TransferSource(word, as: label)) }
        return sources
    }
}
