import Foundation
import Multipeer
import MultipeerHistory

/// A member of a mesh that obeys lines on its standard input, or several in one process that come and go.
@main
enum MultipeerMember {
    private static let usage = """
        usage: MultipeerMember NAME FOLDER HISTORY [--uid HEX] [--listen ADDRESS] [--rate N] [--files N]
                   [--cap N] [--star] [--everywhere] [--patience SECONDS] [--death SECONDS]
               MultipeerMember churn SECONDS MEMBERS FOLDER HISTORY
        """

    static func main() async {
        var words = Array(CommandLine.arguments.dropFirst())
        do {
            if words.first == "churn", words.count == 5, let seconds = Double(words[1]),
                let count = Int(words[2])
            {
                let folder = URL(fileURLWithPath: words[3], isDirectory: true)
                try await Churn(seconds: seconds, count: count, folder: folder, history: words[4]).run()
                return
            }
            guard words.count >= 3 else { throw Complaint(usage) }
            var options = Member.Options()
            options.name = words[0]
            options.folder = URL(fileURLWithPath: words[1], isDirectory: true)
            options.history = words[2]
            options.configuration.listening = [.loopback]
            words.removeFirst(3)
            while let word = words.first {
                words.removeFirst()
                try take(word, &words, &options)
            }
            try await obey(try Member(options))
        } catch {
            say("failed: \(error)")
            exit(1)
        }
    }

    private static func take(
        _ word: String, _ words: inout [String], _ options: inout Member.Options
    ) throws {
        switch word {
        case "--star":
            options.configuration.topology = .star
            return
        case "--everywhere":
            options.configuration.listening = []
            return
        default: break
        }
        guard let value = words.first else { throw Complaint(usage) }
        words.removeFirst()
        switch (word, Double(value)) {
        case ("--rate", let rate?): options.rate = rate
        case ("--files", let files?): options.files = files
        case ("--cap", let cap?): options.configuration.peers = Int(cap)
        case ("--patience", let seconds?): options.configuration.patience = .seconds(seconds)
        case ("--death", let seconds?):
            options.configuration.death = .seconds(seconds)
            options.configuration.silence = .seconds(seconds * 0.3)
        case ("--listen", _):
            guard let address = SocketAddress(value) else { throw Complaint(usage) }
            options.configuration.listening = [address]
        case ("--uid", _):
            let digits = Array(value)
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            guard let uid = UID(bytes) else { throw Complaint(usage) }
            options.uid = uid
        default: throw Complaint(usage)
        }
    }

    // MARK: obeying

    private static func obey(_ member: Member) async throws {
        try await member.start()
        say("ready")
        for await line in lines() {
            let words = line.split(separator: " ").map(String.init)
            guard let order = words.first else { continue }
            if order == "quit" { break }
            try await carryOut(order, Array(words.dropFirst()), member)
        }
        try await member.quit()
        say("ok quit")
    }

    private static func carryOut(_ order: String, _ words: [String], _ member: Member) async throws {
        switch (order, words.first) {
        case ("join", _?):
            for word in words {
                await member.join(try ConnectionData(Array(Data(contentsOf: URL(fileURLWithPath: word)))))
            }
        case ("leave", nil): try await member.leave()
        case ("rest", let mark?): member.log(.rest) { $0.mark = mark }
        case ("rate", let word?): await member.set(rate: Double(word) ?? 0)
        case ("files", let word?): await member.set(files: Double(word) ?? 0)
        case ("who", nil):
            say((["who"] + (await member.linked.map(\.text).sorted())).joined(separator: " "))
            return
        default: throw Complaint("'\(order)' is not understood")
        }
        say("ok \(order)")
    }

    /// The lines of standard input, read by a thread of their own.
    private static func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return stream
    }

    /// Goes out at once, also into a pipe.
    static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
