import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer receive`: saves the files that one peer sends in a directory.
enum ReceiveCommand: Subcommand {
    static let usage = Usage(
        ["receive"], operands: "[CODE|DIR]", mostOperands: CodeOption.mostOperands,
        "receive files from one peer",
        examples: """
              multipeer 7-guitar-island           takes what 'multipeer send' offers
              multipeer receive inbox             waits for a sender, and asks
              multipeer receive --yes -n ann      takes files without asking, as ann
            """,
        details: """
            CODE is the one-time code that 'multipeer send' shows on the other machine, such as 7-guitar-island;
            'multipeer CODE' is enough, and so are the first letters of each word if no other word begins with them.
            Each side proves to the other that it knows the code, so you are not asked again, and one wrong attempt ends
            both commands. --timeout is how long to look for the other side, default: 30 seconds. With --code new, this
            side makes the code, and the other one runs 'multipeer send FILE --code CODE'.

            Without a code, the other side finds this peer on the network by its name, with 'multipeer send FILE NAME';
            --timeout limits how long this one waits, default: no limit. You are shown who wants to send, and asked on
            the terminal before anything is received; --yes skips the question, and is required without a terminal. When a
            sender leaves without having sent anything, the command says so and waits for the next one.
            Names are unauthenticated: anyone can use any name, and a sender that is not verified is shown as such.
            With --verify both users compare a code before anything is sent.

            Where multicast does not work, use --to ADDRESS with the code, or run 'multipeer send FILE --to ADDRESS' on the other
            machine. If neither side can be reached so, use --manual, or --data, --from or --out: both sides then exchange their
            connection data, one line of base64. It contains a secret: use a channel that both trust. You are
            asked for the peer's data on the terminal; without a terminal, it is the first line of standard input;
            --data @FILE and --from read a file. Data in an argument can be read by other users of this machine.

            DIR is where files are saved, by default the current directory; it is created if only its last component
            is missing. A file is saved with its time of modification, under the last component of the name that the
            sender gave it; unsafe characters in that are replaced, which both sides are told. Other users cannot read
            what you receive: files have mode 600, or 700 if the owner could execute them at the sender, and
            directories 700, whatever the mode was there; change it with chmod. A directory keeps the names of what is
            in it; a path that would lead out of it, or has names that are unsafe, is refused, no symbolic link is
            ever created or followed, and limits are those of 'send'. Until a file is complete it is called
            multipeer-...part; it is removed if the transfer fails, or by the next 'multipeer receive' into DIR if
            this one is killed. Of a file of at least 1 MiB, what has arrived stays in DIR for 7 days as
            NAME.DIGITS.multipeer-part if the link or either process ends, at most 32 of them and 16 GiB: when the
            same peer sends the file again, only the rest is sent. The sender is notified once the file has its name,
            or when a file is not taken, with the reason. If a file of that name exists, it is kept and the new one is
            skipped, which is success if both are the same, by their SHA-256 digests; a directory gets another name,
            such as album~1. --exists skip keeps what exists in a directory and adds the rest, as after a transfer
            that broke; rename gives a file a number, too; overwrite, or --force, replaces files, also in a directory,
            but none that the same sender has just sent, nor those of another sender of this run. DIR can be - for one
            file to standard output, unless that is a terminal, which the bytes of a sender could control: --raw
            writes them there; its digest is known only at the end, by the exit code. The command ends when the other
            side does. With --keep it stays until it is interrupted or has --count files, and asks about each sender,
            unless --yes is given.

            --json prints an object a line as 'send' does, with the path of each file that is done and the peer that
            sent it, and a text as an event of that name.

            A text, of 'multipeer send --text', is printed on standard output; control characters are escaped if that is a
            terminal.

            Between two shells, by hand:
              multipeer receive --into inbox --out b.data --from a.data
              multipeer send report.pdf photo.jpg --unverified --out a.data --from b.data
            """,
        options: [
            CodeOption.oneTime, PeerAdvertiser.consent,
            .init(
                PeerFinder.option.name, short: "t", "ADDRESS",
                "with a code: try it at this IP address or host name, with its port if that is not \(PortOption.standard)"
            ),
            .init(
                "--into", short: "d", "DIR",
                "save files in DIR; default: the current directory; - writes one file to standard output"),
            .init(
                "--raw", "with --into -, write to a terminal, too, with control characters unescaped"),
        ] + ExistingFiles.options + [
            .init("--keep", short: "k", "stay for further senders; several can send at once"),
            .init("--max-size", "SIZE", "skip larger files; SIZE in bytes, or with a unit: 64K, 20M, 1.5G"),
            .init(
                "--fsync", "count a file as received only once it is on disk, and safe from a power failure"),
            .init("--count", "N", "exit after N files"),
            .init("--verbose", short: "v", "show how the link is protected, and whole digests"),
            CodeOption.quiet,
            ManualExchange.manual,
        ] + TransferOutput.options + DiscoveryOptions.options + PeerConnector.options,
        common: ["--into", "--yes", "--code", "--name", "--force", "--quiet"],
        exits: [.linkFailed, .badInput, .system, .incomplete, .interrupted])

    /// 'multipeer CODE' is short for 'multipeer receive CODE'.
    static func isImplied(by words: [String]) -> Bool { InvitationCode.isMeant(by: words) }

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let count = try arguments.number("--count", in: 1...1_000_000)
        let limit = try arguments.size("--max-size")
        let isStaying = arguments.has("--keep")
        let existing = try ExistingFiles.read(arguments)
        let configured = try ConfigurationFile.directory
        let place = try CodeOption.operandOrOption("--into", arguments) ?? configured ?? "."
        if isStaying { try check(arguments) }
        if place == "-" {
            try checkOutput(arguments)
        } else if arguments.has("--raw") {
            throw arguments.commandError("--raw is for '--into -' alone")
        }
        let downloads = place == "-" ? nil : try DownloadDirectory(place, existing: existing)
        let connector = try PeerConnector(arguments, as: .receive)
        if let downloads { PartialFile.sweep(downloads.directory) }
        let output = TransferOutput(arguments)
        let receiver = FileReceiver(
            connector,
            .init(
                downloads: downloads, most: downloads == nil ? 1 : count, largest: limit,
                isSynchronized: arguments.has("--fsync"), isStaying: isStaying), output)
        SignalHandler.first { await receiver.abandon() }
        do throws(CommandError) {
            try await receiver.run()
        } catch {
            output.print(.error(nil, "\(error)"))
            await receiver.abandon()
            throw error
        }
        await connector.leave()
    }

    /// Standard output takes one file as it is.
    private static func checkOutput(_ arguments: Arguments) throws(CommandError) {
        let others = ["--keep", "--json", "--count", "--fsync"] + ExistingFiles.options.map(\.name)
        if let other = others.first(where: arguments.has) {
            throw arguments.commandError("standard output takes one file, without \(other)")
        }
        guard DescriptorStream.output.isTerminal, !arguments.has("--raw") else { return }
        throw CommandError(
            "standard output is a terminal, which the bytes of a sender could control",
            hint: "save in a directory, add '| less' or '> FILE', or use --raw if you trust the sender",
            exit: .usage)
    }

    /// Only a peer that is found by its name can be found again.
    private static func check(_ arguments: Arguments) throws(CommandError) {
        let others = [
            "--code", "--manual", "--data", "--from", "--out", "--mesh", "--timeout",
            CodeComparison.option.name,
        ]
        if let other = others.first(where: arguments.has) {
            throw arguments.commandError("--keep and \(other) cannot be used together")
        }
        guard !CodeOption.isOperand(arguments) else {
            throw arguments.commandError("--keep and a code cannot be used together")
        }
    }
}
