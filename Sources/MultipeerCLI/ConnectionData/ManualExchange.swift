import MultipeerCommandLine
import MultipeerEssentials

/// How the two sides exchange connection data by hand: the local data is shown and written, the peer's is typed, given or
/// read from a file once it exists.
struct ManualExchange: Sendable {
    enum Source: Sendable {
        case given(ConnectionData)
        case file(String)
        /// The first line of standard input.
        case input
        /// The terminal, or the first line of standard input if there is no terminal.
        case prompt
    }

    /// For commands that find peers on the network by default.
    static let manual = Usage.Option(
        "--manual", "exchange connection data by hand; implied by --data, --from and --out")
    static let options: [Usage.Option] = [
        .init(
            "--data", "@FILE",
            "read the peer's connection data, one line of base64, from FILE; @- reads standard input; with the data itself "
                + "instead of @FILE, other users of this machine can read it"),
        .init(
            "--from", "FILE",
            "wait until FILE exists and is complete, and read the peer's data from it; remove one of an earlier run first"
        ),
        .init(
            "--out", "FILE",
            "also write your connection data to FILE, mode 0600; removed when the link has ended"),
    ]

    let source: Source
    let own: LocalConnectionData
    private let files = Worker("files")

    /// Returns whether the arguments ask for an exchange by hand. Options for discovery are errors then.
    static func isWanted(_ arguments: Arguments) throws(CommandError) -> Bool {
        let signs = ["--data", "--from", "--out", manual.name].filter(arguments.has)
        let others = [DiscoveryOptions.type.name, ChatCommand.room.name, PeerAdvertiser.consent.name]
            .filter(
                arguments.has)
        guard let sign = signs.first, let other = others.first else { return !signs.isEmpty }
        throw arguments.commandError("\(other) and \(sign) cannot be used together")
    }

    init(_ arguments: Arguments) throws(CommandError) {
        try arguments.exclude(["--data", "--from"])
        let text = arguments.value("--data")
        if text == "@-" {
            source = .input
        } else if let text {
            let isQuiet = arguments.has("--quiet")
            source = .given(
                try ConnectionDataInput.read(ConnectionDataInput.decode(argument: text, isQuiet: isQuiet)))
        } else {
            source = arguments.value("--from").map(Source.file) ?? .prompt
        }
        own = LocalConnectionData(arguments)
    }

    /// Returns the peer's data.
    func obtain(within timeLimit: Duration) async throws(CommandError) -> ConnectionData {
        switch source {
        case .given(let data): return data
        case .file(let path): return try await watch(path, until: .now + timeLimit)
        case .input:
            return try await read { () throws(CommandError) in try DescriptorStream.input.readLine() }
        case .prompt:
            if let data = try await prompt() { return data }
            return try await read { () throws(CommandError) in try DescriptorStream.input.readLine() }
        }
    }

    /// Asks on the terminal until the data is valid: what this side has shown stays valid meanwhile. Data that was wrapped into
    /// several lines is taken as a whole. Returns nil without a terminal.
    private func prompt() async throws(CommandError) -> ConnectionData? {
        guard Terminal.isThere else { return nil }
        var question = "peer's connection data: "
        var text = ""
        while true {
            let asked = question
            let line: String
            do throws(CommandError) {
                line = try await files.run { () throws(CommandError) in
                    // Nothing withdraws this question.
                    try Terminal.ask(asked, discardsInput: asked != ManualExchange.continuation) ?? ""
                }
            } catch {
                throw CommandError(
                    "no connection data given: \(error.text)", hint: "use --data @FILE or --from FILE",
                    exit: error.exit)
            }
            text += line
            let result = ManualExchange.parse(text)
            if case .success(let data) = result { return data }
            // Each line of wrapped data is followed by the next one.
            if !line.allSatisfy(\.isWhitespace), ConnectionDataInput.isBeginning(text) {
                question = ManualExchange.continuation
                continue
            }
            if case .failure(let error) = result { Terminal.warn("\(error)") }
            (text, question) = ("", "again, or Ctrl-D to give up: ")
        }
    }

    private static let continuation = ""

    private static func parse(_ text: String) -> Result<ConnectionData, CommandError> {
        do throws(CommandError) {
            return .success(try ConnectionDataInput.read(ConnectionDataInput.decode(text)))
        } catch {
            return .failure(error)
        }
    }

    private func read(
        _ line: @escaping @Sendable () throws(CommandError) -> String?
    ) async throws(CommandError) -> ConnectionData {
        guard let line = try await files.run(line) else {
            throw CommandError(
                "no connection data given", hint: "use --data @FILE or --from FILE", exit: .badInput)
        }
        return try ConnectionDataInput.read(ConnectionDataInput.decode(line))
    }

    private func watch(
        _ path: String, until deadline: ContinuousClock.Instant
    ) async throws(CommandError) -> ConnectionData {
        let file = ConnectionDataFile(path, on: files)
        if !own.isQuiet, !file.isThere { Terminal.say("waiting for \(path.printable)") }
        guard let contents = try await file.contents(until: deadline) else {
            throw CommandError(
                "no connection data in \(path.printable)", hint: "use --timeout to wait longer",
                exit: .linkFailed)
        }
        return try ConnectionDataInput.read(ConnectionDataInput.decode(contents: contents))
    }
}
