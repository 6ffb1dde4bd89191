import Foundation
import Multipeer
import MultipeerActors
import MultipeerOrders

/// A member of a mesh that offers an actor to all others and calls theirs; it executes commands from its standard input.
@main
enum MultipeerCaller {
    private static let usage = "usage: MultipeerCaller NAME FOLDER HISTORY --uid HEX"

    static func main() async {
        let words = CommandLine.arguments
        do {
            guard words.count == 6, words[4] == "--uid" else { throw Complaint(usage) }
            guard let uid = UID(text: words[5]) else { throw Complaint(usage) }
            let folder = URL(fileURLWithPath: words[2], isDirectory: true)
            let caller = try await Caller(PeerID(uid: uid, displayName: words[1]), folder)
            try await caller.start()
            Orders.say("ready")
            for await line in Orders.lines() {
                let words = line.split(separator: " ").map(String.init)
                guard let order = words.first, order != "quit" else { break }
                Orders.say(try await carryOut(order, Array(words.dropFirst()), caller))
            }
            await caller.quit()
            Orders.say("ok quit")
        } catch {
            Orders.say("failed: \(error)")
            exit(1)
        }
    }

    private static func carryOut(_ order: String, _ words: [String], _ caller: Caller) async throws -> String
    {
        switch (order, words.first) {
        case ("join", let path?):
            await caller.join(try ConnectionData(Array(Data(contentsOf: URL(fileURLWithPath: path)))))
            return "ok join"
        case ("who", nil):
            return (["who"] + (await caller.linked.map(\.uid.text).sorted())).joined(separator: " ")
        case ("call", let count?):
            await caller.begin(Int(count) ?? 0)
            return "ok call"
        case ("report", nil): return await caller.report()
        default: throw Complaint("unknown command '\(order)'")
        }
    }
}
