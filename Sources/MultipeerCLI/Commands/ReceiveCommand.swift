import Multipeer
import MultipeerCommandLine

/// `multipeer receive`: the files that one peer sends, into a directory.
enum ReceiveCommand: Subcommand {
    static let usage = Usage(
        ["receive"], operands: "[DATA]", mostOperands: 1, "receive files of one peer",
        details: """
            The other side runs 'multipeer send'. This one can be found on the network by its name, for as long as
            --timeout says, or for ever. Whoever wants to send is shown, and you are asked on the terminal: nobody
            writes files here without your yes, or --yes, which is needed where there is no terminal. Names prove
            nothing: whoever is there can take any. --verify lets both users compare a code before anything is sent.

            Where multicast does not get through, with --manual, or with DATA, --data, --from or --out, both swap their
            connection data instead, one line of base64, by a way that both trust: it holds a secret. Without DATA,
            --data and --from, the other side's data is asked for on the terminal, or is the first line of standard
            input where there is no terminal.

            A file gets the last part of the name that the sender gave it, without characters that could do harm, and
            mode 600. It appears under that name when all of it is there; until then it is called multipeer-... and it
            is removed when something comes in between. A file that exists is kept, and the one that was sent is
            skipped, unless --force is given; links are never followed. The command ends when the other side does.

            Between two machines:
              multipeer receive --into inbox --name ann
              multipeer send report.pdf photo.jpg --to ann
            Between two shells, by hand:
              multipeer receive --into inbox --out b.data --from a.data
              multipeer send report.pdf photo.jpg --out a.data --from b.data
            """,
        options: [
            ReceiverAdvertiser.consent,
            .init("--into", "DIR", "where files go; default: the current directory"),
            .init("--force", "replace files that exist"),
            .init("--max-size", "SIZE", "take no file that is longer, in bytes or as 64K, 20M, 1.5G"),
            .init("--count", "N", "leave when N files have come"),
            .init("--verbose", "say what protects the link"),
            .init("--quiet", "say nothing but errors; the own data is not shown when --out is given"),
            ManualExchange.manual,
        ] + DiscoveryOptions.options + PeerConnector.options,
        exits: [.linkFailed, .badInput, .system, .incomplete, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let count = try arguments.number("--count", in: 1...1_000_000)
        var limit: UInt64?
        if let text = arguments.value("--max-size") {
            guard let size = HumanReadable.count(of: text) else {
                throw arguments.commandError(
                    "option '--max-size' takes a size as 64K, 20M or 1.5G, not '\(text)'")
            }
            limit = size
        }
        let downloads = try DownloadDirectory(
            arguments.value("--into") ?? ".", isForced: arguments.has("--force"))
        let connector = try PeerConnector(arguments, as: .receiving)
        let receiver = FileReceiver(connector, downloads, most: count, largest: limit)
        SignalHandler.first { await receiver.abandon() }
        do throws(CommandError) {
            try await receiver.run()
        } catch {
            await receiver.abandon()
            throw error
        }
        await connector.leave()
    }
}
