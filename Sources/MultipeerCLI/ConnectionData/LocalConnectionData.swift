import MultipeerCommandLine
import MultipeerEssentials

/// The local connection data for an exchange by hand: shown, written to a file, and removed at the end.
struct LocalConnectionData: Sendable {
    let out: String?
    let isQuiet: Bool
    let showsQR: Bool

    init(_ arguments: Arguments) {
        out = arguments.value("--out")
        isQuiet = arguments.has("--quiet")
        showsQR = arguments.has(QRPicture.option.name)
    }

    /// Shows the local data on a stream that does not carry the peer's bytes.
    func publish(_ data: ConnectionData, to readers: String = "the other person") throws(CommandError) {
        let line = Base64.encode(data.bytes)
        try write(data)
        defer { if showsQR { Terminal.show(QRPicture.lines(for: line)) } }
        guard !isQuiet || out == nil else { return }
        if !isQuiet { Terminal.say("send this to \(readers) only: it contains a secret") }
        if DescriptorStream.output.isTerminal {
            try Terminal.put("\(line)\n")
        } else {
            Terminal.show("\(line)\n")
        }
    }

    func write(_ data: ConnectionData) throws(CommandError) {
        guard let out else { return }
        try AtomicFile.write(Array("\(Base64.encode(data.bytes))\n".utf8), to: out, replacing: true)
    }

    /// Removes the file, unless it was replaced: the local data is invalid once the session is over.
    func retract(_ data: ConnectionData?) {
        guard let out, let data, let contents = try? AtomicFile.read(out, as: .present, limit: 65_536),
            String(decoding: contents, as: UTF8.self) == Base64.encode(data.bytes) + "\n"
        else { return }
        _ = unsafe unlink(out)
    }
}
