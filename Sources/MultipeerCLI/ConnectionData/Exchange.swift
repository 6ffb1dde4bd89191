import Multipeer
import MultipeerCommandLine

/// How the two sides swap connection data by hand: ours is shown and written, theirs is typed, given or awaited.
struct ManualExchange: Sendable {
    enum Source: Sendable {
        case text(String)
        case file(String)
        /// The terminal, or the first line of standard input where there is none.
        case prompt
    }

    /// Where peers are found on the network unless somebody wants it otherwise.
    static let manual = Usage.Option(
        "--manual", "swap connection data by hand; so do DATA, --data, --from and --out")
    static let options: [Usage.Option] = [
        .init("--data", "DATA", "the other side's connection data, one line of base64"),
        .init(
            "--from", "FILE",
            "wait until FILE is there and whole, and take the other side's data from it; an old FILE is of no use"
        ),
        .init(
            "--out", "FILE",
            "write the own data to FILE too, mode 0600; it is removed when the link has ended"),
    ]

    let source: Source
    let own: LocalConnectionData
    private let files = Worker("files")

    /// Whether the arguments say that data is swapped by hand. What belongs to finding each other then has no meaning.
    static func isWanted(_ arguments: Arguments, takingOperands: Bool) throws(CommandError) -> Bool {
        var signs = ["--data", "--from", "--out", manual.name].filter(arguments.has)
        if takingOperands, !arguments.operands.isEmpty { signs.append("an argument") }
        let others = [DiscoveryOptions.type.name, ChatCommand.room.name, ReceiverAdvertiser.consent.name]
            .filter(
                arguments.has)
        guard let sign = signs.first, let other = others.first else { return !signs.isEmpty }
        throw arguments.commandError("\(other) and \(sign) exclude each other")
    }

    /// `takingOperand`: whether the other side's data may be an operand too.
    init(_ arguments: Arguments, takingOperand: Bool) throws(CommandError) {
        try arguments.exclude(["--data", "--from"], orOperand: takingOperand)
        let operand = takingOperand ? arguments.operands.first : nil
        if let text = operand ?? arguments.value("--data") {
            _ = try ConnectionDataInput.read(ConnectionDataInput.decode(text))
            source = .text(text)
        } else {
            source = arguments.value("--from").map(Source.file) ?? .prompt
        }
        own = LocalConnectionData(arguments)
    }

    /// The other side's data.
    func obtain(within patience: Duration) async throws(CommandError) -> ConnectionData {
        switch source {
        case .text(let text): return try ConnectionDataInput.read(ConnectionDataInput.decode(text))
        case .file(let path): return try await watch(path, until: .now + patience)
        case .prompt:
            let line = try await files.run { () throws(CommandError) -> String? in
                if let line = try Terminal.ask("the other side's connection data: ") { return line }
                return try DescriptorStream.input.readLine()
            }
            guard let line else {
                throw CommandError(
                    "there is no connection data", hint: "give it as DATA or --from FILE", exit: .badInput)
            }
            return try ConnectionDataInput.read(ConnectionDataInput.decode(line))
        }
    }

    private func watch(
        _ path: String, until deadline: ContinuousClock.Instant
    ) async throws(CommandError) -> ConnectionData {
        let file = ConnectionDataFile(path, on: files)
        if !own.isQuiet, !file.isThere { Terminal.say("waiting for \(path.printable)") }
        guard let contents = try await file.contents(until: deadline) else {
            throw CommandError(
                "no connection data came in \(path.printable)", hint: "--timeout allows more time",
                exit: .linkFailed)
        }
        return try ConnectionDataInput.read(ConnectionDataInput.decode(contents: contents))
    }
}
