import Foundation
import Multipeer
import MultipeerHistory
import MultipeerOrders

/// A member of a mesh that executes commands from its standard input, or several in one process that join and leave.
@main
enum MultipeerMember {
    private static let usage = """
        usage: MultipeerMember NAME FOLDER HISTORY [--uid HEX] [--listen ADDRESS] [--rate N] [--files N]
                   [--cap N] [--star] [--everywhere] [--connect-timeout SECONDS] [--idle-timeout SECONDS]
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
            options.configuration.listenAddresses = [.loopback]
            words.removeFirst(3)
            while let word = words.first {
                words.removeFirst()
                try take(word, &words, &options)
            }
            try await obey(try Member(options))
        } catch {
            Orders.say("failed: \(error)")
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
            options.configuration.listenAddresses = []
            return
        default: break
        }
        guard let value = words.first else { throw Complaint(usage) }
        words.removeFirst()
        switch (word, Double(value)) {
        case ("--rate", let rate?): options.rate = rate
        case ("--files", let files?): options.files = files
        case ("--cap", let cap?): options.configuration.maximumPeers = Int(cap)
        case ("--connect-timeout", let seconds?): options.configuration.connectTimeout = .seconds(seconds)
        case ("--idle-timeout", let seconds?):
            options.configuration.idleTimeout = .seconds(seconds)
            options.configuration.keepAliveInterval = .seconds(seconds * 0.3)
        case ("--listen", _):
            guard let address = SocketAddress(value) else { throw Complaint(usage) }
            options.configuration.listenAddresses = [address]
        case ("--uid", _):
            guard let uid = UID(text: value) else { throw Complaint(usage) }
            options.uid = uid
        default: throw Complaint(usage)
        }
    }

    // MARK: commands

    private static func obey(_ member: Member) async throws {
        try await member.start()
        Orders.say("ready")
        for await line in Orders.lines() {
            let words = line.split(separator: " ").map(String.init)
            guard let order = words.first else { continue }
            if order == "quit" { break }
            try await carryOut(order, Array(words.dropFirst()), member)
        }
        try await member.quit()
        Orders.say("ok quit")
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
            Orders.say((["who"] + (await member.linked.map(\.uid.text).sorted())).joined(separator: " "))
            return
        default: throw Complaint("unknown command '\(order)'")
        }
        Orders.say("ok \(order)")
    }
}
