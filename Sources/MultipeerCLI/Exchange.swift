import Foundation
import Multipeer

/// How the two sides swap connection data by hand: ours is shown and written, theirs is typed, given or awaited.
struct Exchange: Sendable {
    enum Source: Sendable {
        case text(String)
        case file(String)
        /// The terminal, or the first line of standard input where there is none.
        case prompt
    }

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
    let out: String?
    let isQuiet: Bool
    private static let retry = Duration.milliseconds(50)
    private let files = Worker("files")

    /// `takingOperand`: whether the other side's data may be an operand too.
    init(_ arguments: Arguments, takingOperand: Bool) throws(Complaint) {
        try arguments.exclude(["--data", "--from"], orOperand: takingOperand)
        let operand = takingOperand ? arguments.operands.first : nil
        if let text = operand ?? arguments.value("--data") {
            _ = try Blob.read(Blob.decode(text))
            source = .text(text)
        } else {
            source = arguments.value("--from").map(Source.file) ?? .prompt
        }
        out = arguments.value("--out")
        isQuiet = arguments.has("--quiet")
    }

    /// Shows our data where it does not get between the peer's bytes and whoever reads them.
    func publish(_ data: ConnectionData) throws(Complaint) {
        let line = Base64.encode(data.bytes)
        if let out { try File.write(Array("\(line)\n".utf8), to: out, replacing: true) }
        guard !isQuiet || out == nil else { return }
        if !isQuiet { Terminal.say("hand this to the other side, and keep it from everybody else:") }
        if Stream.output.isTerminal { try Terminal.put("\(line)\n") } else { Terminal.show("\(line)\n") }
    }

    /// Our data is void once the session is over: removes the file, unless somebody has put another one there.
    func retract(_ data: ConnectionData?) {
        guard let out, let data, let contents = try? File.read(out, limit: 65_536),
            String(decoding: contents, as: UTF8.self) == Base64.encode(data.bytes) + "\n"
        else { return }
        try? FileManager.default.removeItem(atPath: out)
    }

    /// The other side's data.
    func obtain(within patience: Duration) async throws(Complaint) -> ConnectionData {
        switch source {
        case .text(let text): return try Blob.read(Blob.decode(text))
        case .file(let path): return try await watch(path, until: .now + patience)
        case .prompt:
            let line = try await files.run { () throws(Complaint) -> String? in
                if let line = try Terminal.ask("the other side's connection data: ") { return line }
                return try Stream.input.readLine()
            }
            guard let line else {
                throw Complaint(
                    "there is no connection data", hint: "give it as DATA or --from FILE", exit: .badInput)
            }
            return try Blob.read(Blob.decode(line))
        }
    }

    private func watch(
        _ path: String, until deadline: ContinuousClock.Instant
    ) async throws(Complaint) -> ConnectionData {
        if !isQuiet, !FileManager.default.fileExists(atPath: path) {
            Terminal.say("waiting for \(path.printable)")
        }
        while ContinuousClock.now < deadline {
            let contents = try await files.run { () throws(Complaint) in try Exchange.contents(path) }
            if let contents, Exchange.isComplete(contents) {
                return try Blob.read(Blob.decode(contents: contents))
            }
            try? await Task.sleep(for: Exchange.retry)
        }
        throw Complaint(
            "no connection data came in \(path.printable)", hint: "--timeout allows more time",
            exit: .linkFailed)
    }

    /// What the file holds now; nil while there is none.
    private static func contents(_ path: String) throws(Complaint) -> [UInt8]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try File.read(path, limit: 65_536)
    }

    /// Whether all of it is there: a whole line, or bytes that are valid as they are.
    private static func isComplete(_ contents: [UInt8]) -> Bool {
        if contents.last == UInt8(ascii: "\n") { return true }
        guard let bytes = try? Blob.decode(contents: contents) else { return false }
        return (try? ConnectionData(bytes)) != nil
    }
}
