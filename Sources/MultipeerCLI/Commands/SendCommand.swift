import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer send`: sends files, one after the other, to one peer.
enum SendCommand: Subcommand {
    static let usage = Usage(
        ["send"], operands: "FILE... [NAME]", mostOperands: FilePosition.most, "send files to one peer",
        examples: """
              multipeer send photo.jpg            shows a code such as 7-guitar-island
              multipeer 7-guitar-island           takes the photo, on the other machine
              multipeer send *.jpg ann            sends to ann: 'multipeer receive'
              multipeer send --text 'see you at 8' ann
              multipeer send album ann            sends a directory
            """,
        details: """
            You are shown a one-time code, a number and two words. Tell it to the other user, who types
            'multipeer CODE' on a machine on the same network. Nothing is sent before the other side has proven that it
            knows the code, and one wrong attempt ends the command: an attacker has one guess in a million at each end.
            Below the code, a terminal shows who receives on the network: a number, or the arrows and Enter, choose one, and
            the code is no longer valid.
            --timeout limits how long this side waits, default: no limit. With --code CODE, the other side has made the
            code, with 'multipeer receive --code new'.

            With NAME or --to NAME, the other side runs 'multipeer receive'. It is found on the network by its name, and
            its user is asked, and shown how many files come, their size, and the first names; a peer that poses as the
            receiver can read these, unless the id is one of a key. Timeouts: 30 seconds to find it and 120 for its user
            to accept; --timeout sets both. Names are unauthenticated: anyone can use any name. A peer that is not
            verified is shown as such, and you are asked before anything is sent; without a terminal, --unverified is
            needed. With --verify both users compare a code first. A peer has an id that is a hash of its key: --to
            ann#DIGITS with 24 digits of it or more sends to that peer or to none. A peer whose key or name is not the
            one in the --trust-store is a question too.

            Where multicast does not work, use --to ADDRESS. If neither side can be reached so, use --manual, or
            --data, --from or --out: both sides then exchange their connection data, one line of base64. It contains a
            secret: use a channel that both trust. Without --data and --from, you are asked for the peer's data on the
            terminal; without a terminal, it is the first line of standard input.

            FILE is a path, an http or https URL, which curl fetches while it is forwarded, a FIFO, such as the one of
            <(tar c folder), or - for standard input. Devices are refused before anything else is done. Of a directory
            all files are sent, hidden ones too, with empty directories, the time of modification and whether the owner
            may execute a file; symbolic links in it are left out and never followed. It can have 100,000 files, directories
            nested 63 deep, names of 255 bytes and paths of 960; names that are not UTF-8, have control
            characters or nothing that shows, or end with a dot or a space are not sent. One command sends at most
            64 directories.

            A file counts as sent when the other side has all of it with the correct SHA-256 digest. Small files of a
            directory go together, and without one if the link is encrypted: TLS authenticates what it carries.
            Interrupting either side stops the transfer on both. A file of at least 1 MiB goes on where its transfer
            stopped when you send it to the same peer again, and it has not changed; not with --no-digest, nor with
            --anonymous, which has a new key each time. On a terminal a line shows the progress. If the receiver keeps
            a file of the same name, the two are compared by their SHA-256 digests: the same one was there already,
            and counts as sent; a different one is reported, and the exit code is 5. So a command that is repeated
            until it succeeds ends. What cannot be read twice, such as standard input, and files with --no-digest are
            not compared.

            --json prints an object a line: "event" is offer (peer, id, totalFiles, totalDirectories, totalBytes,
            names), code (text), progress (files, totalFiles, bytes, totalBytes, bytesPerSecond, file), done (file,
            bytes, resumedAt, seconds, sha256), same (file, bytes, sha256), which the receiver had already, error
            (file, message, reason: differs, exists, which was not compared, repeated, too-large, bad-name or
            obstructed, and if the receiver cannot store it no-space, quota, size-limit, not-permitted, read-only,
            name-too-long, too-many-files, closed or storage; without file it ends the command) and end (files,
            directories, bytes, seconds, same, skipped, failed). Directories are those without files; progress counts
            them as files. Fields that do not apply are missing; more may be added, and those that are there keep
            their meaning. Between two shells, by hand:
              multipeer send report.pdf photo.jpg --unverified --out a.data --from b.data
              multipeer receive --into inbox --out b.data --from a.data
            """,
        options: [
            CodeOption.oneTime, PeerFinder.option, TextSender.option, VerificationGate.option,
            .init(
                "--as", "LABEL", "send the file under this name; default: the last component of its path"),
            .init("--no-digest", "do not compute SHA-256; the link still protects the data"),
            .init("--verbose", short: "v", "show how the link is protected, and whole digests"),
            .init(
                "--limit", "RATE",
                "send at most RATE bytes a second, on average; with a unit: 500K, 2M"),
            CodeOption.quiet,
            ManualExchange.manual,
        ] + TransferOutput.options + DiscoveryOptions.options + PeerConnector.options,
        common: ["--to", "--text", "--code", "--as", "--verify", "--unverified"],
        exits: [.linkFailed, .badInput, .system, .incomplete, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        if let text = try TextSender.text(arguments) { return try await send(text, arguments) }
        let (words, name) = try operands(arguments)
        let sources = try sources(words, arguments)
        let limit = try arguments.size("--limit").map { LimitedSource.Limit(RateLimit($0)) }
        let connector = try PeerConnector(
            arguments, as: .send(TransferSource.offer(sources)), with: name)
        let output = TransferOutput(arguments)
        if name == nil, let last = words.last, words.count > 1, looksLikeName(last) {
            output.say("\(last.printable) is sent, too; with --to \(last.printable) it is the receiver")
        }
        let sender = FileSender(
            sources, connector, .init(wantsDigest: !arguments.has("--no-digest"), limit: limit), output)
        SignalHandler.first { await sender.abandon() }
        do throws(CommandError) {
            try await sender.run(to: name)
        } catch {
            output.print(.error(nil, "\(error)"))
            await sender.abandon()
            throw error
        }
        await sender.leave()
    }

    private static func send(_ text: String, _ arguments: Arguments) async throws(CommandError) {
        for option in ["--as", "--no-digest", "--limit", "--json", "--progress"] {
            try arguments.exclude([TextSender.option.name, option])
        }
        guard arguments.operands.count < 2 else {
            throw arguments.commandError("with --text there is no FILE, only the NAME of the receiver")
        }
        try arguments.exclude([PeerFinder.option.name], orOperand: true)
        let name = arguments.operands.first ?? arguments.value(PeerFinder.option.name)
        let connector = try PeerConnector(arguments, as: .text(text.utf8.count), with: name)
        let sender = TextSender(text, connector)
        SignalHandler.first { await connector.leave() }
        do throws(CommandError) {
            try await sender.run(to: name)
        } catch {
            await connector.leave()
            throw error
        }
        await connector.leave()
    }

    /// Returns the files, and the name of the receiver: the option, or the last operand if it does not look like a file.
    private static func operands(
        _ arguments: Arguments
    ) throws(CommandError) -> (files: [String], name: String?) {
        let words = arguments.operands
        guard let last = words.last else { throw arguments.commandError("FILE is missing") }
        if let name = arguments.value(PeerFinder.option.name) { return (words, name) }
        let isName =
            words.count > 1 && last != "-" && last.firstPosition(of: "/") == nil
            && !TransferSource.isThere(last)
        guard isName else { return (words, nil) }
        return (words.dropLast(), last)
    }

    /// Returns whether what is there under this name may have been meant to be the receiver: a directory, or a file without an ending.
    private static func looksLikeName(_ word: String) -> Bool {
        word != "-" && word.firstPosition(of: "/") == nil && word.firstPosition(of: ".") == nil
    }

    private static func sources(
        _ words: [String], _ arguments: Arguments
    ) throws(CommandError) -> [TransferSource] {
        guard words.count(where: { $0 == "-" }) < 2 else {
            throw arguments.commandError("standard input can be sent only once")
        }
        let label = arguments.value("--as")
        guard label == nil || words.count == 1 else {
            throw arguments.commandError("option '--as' takes one file, not \(words.count)")
        }
        var sources: [TransferSource] = []
        for word in words { sources += try TransferSource.all(word, as: label) }
        try check(sources)
        return sources
    }

    /// Throws when the files are too many, or two directories have one name, which the receiver could not keep apart.
    private static func check(_ sources: [TransferSource]) throws(CommandError) {
        guard sources.count <= FilePosition.most else {
            throw CommandError(
                "\(sources.count) files are more than \(FilePosition.most)", hint: "send an archive of them",
                exit: .system)
        }
        var directories: [ObjectIdentifier: String] = [:]
        var names: Set<FilePath> = []
        for directory in sources.compactMap(\.directory)
        where directories.updateValue(directory.name, forKey: ObjectIdentifier(directory)) == nil {
            guard names.insert(FilePath(directory.name)).inserted else {
                throw CommandError(
                    "two directories are called \(directory.name.printable)",
                    hint: "send one after the other",
                    exit: .usage)
            }
        }
        guard names.count <= SentDirectory.mostAtOnce else {
            throw CommandError(
                "\(names.count) directories are more than \(SentDirectory.mostAtOnce)",
                hint: "send the directory that they are in", exit: .system)
        }
    }
}
