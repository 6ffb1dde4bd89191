import Foundation
import Multipeer
import MultipeerCommandLine

/// The own connection data on its way to others by hand: shown, written to a file, and taken back in the end.
struct LocalConnectionData: Sendable {
    let out: String?
    let isQuiet: Bool

    init(_ arguments: Arguments) {
        out = arguments.value("--out")
        isQuiet = arguments.has("--quiet")
    }

    /// Shows our data where it does not get between the peer's bytes and whoever reads them.
    func publish(_ data: ConnectionData, to readers: String = "the other side") throws(CommandError) {
        let line = Base64.encode(data.bytes)
        try write(data)
        guard !isQuiet || out == nil else { return }
        if !isQuiet { Terminal.say("hand this to \(readers), and keep it from everybody else:") }
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

    /// Our data is void once the session is over: removes the file, unless somebody has put another one there.
    func retract(_ data: ConnectionData?) {
        guard let out, let data, let contents = try? AtomicFile.read(out, limit: 65_536),
            String(decoding: contents, as: UTF8.self) == Base64.encode(data.bytes) + "\n"
        else { return }
        try? FileManager.default.removeItem(atPath: out)
    }
}
