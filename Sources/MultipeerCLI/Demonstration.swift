import Foundation
import Multipeer

/// The processes of one demonstration, and what is done with them.
final class Demonstration: Sendable {
    private let players: [Player]
    private let isSilent: Bool
    private let expectation: EncryptionOutcome

    init(_ count: Int, _ preference: EncryptionPreference, isSilent: Bool) throws(Complaint) {
        players = try Player.start(count, preference)
        self.isSilent = isSilent
        expectation = preference == .none ? .plain : .encrypted
    }

    func run(_ seconds: Double) async throws(Complaint) -> [DemoPair] {
        for player in players { try await player.begin() }
        let list = players.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
        try say("started \(list)\nswapped their connection data by hand")
        var links: [(Player, Player, DemoLink)] = []
        for (index, one) in players.enumerated() {
            for other in players.dropFirst(index + 1) {
                links.append((one, other, try await link(one, other)))
            }
        }
        try await greet()
        var pairs: [DemoPair] = []
        for (one, other, link) in links {
            let delivery = try await one.deliver(to: other)
            try say(DemoTable.lines(from: one.name, delivery, isEncrypted: link.isEncrypted))
            let speed = try await one.measure(other, seconds / Double(links.count))
            pairs.append(
                DemoPair(peers: [one.name, other.name], link: link, speed: speed, delivery: delivery))
        }
        return pairs
    }

    /// Links two of them and compares what they say about it. The one with the higher id waits, the other one dials.
    private func link(_ one: Player, _ other: Player) async throws(Complaint) -> DemoLink {
        let (dialler, waiter) = try one.uid < other.uid ? (one, other) : (other, one)
        try await waiter.give(.seek(data: dialler.data))
        try await waiter.isSeeking()
        try await dialler.give(.seek(data: waiter.data))
        try await dialler.isSeeking()
        let link = try await dialler.link()
        let reverse = try await waiter.link()
        let isExpected =
            link.isEncrypted == (expectation == .encrypted) && link.isEncrypted == (link.suite != nil)
        guard isExpected, reverse.isEncrypted == link.isEncrypted, reverse.suite == link.suite else {
            throw Complaint(
                "\(one.name) and \(other.name) disagree on their link's protection", exit: .linkFailed)
        }
        try say("linked \(one.name) and \(other.name), \(link.isEncrypted ? "encrypted" : "not encrypted")")
        return link
    }

    private func greet() async throws(Complaint) {
        for player in players { try await player.give(.greet) }
        for player in players {
            var missing = Set(players.map(\.name)).subtracting([player.name])
            while !missing.isEmpty {
                let (from, text) = try await player.heard()
                guard missing.remove(from) != nil, text == "hello \(player.name), this is \(from)" else {
                    throw Complaint(
                        "\(player.name) heard something wrong: \(text.printable)", exit: .linkFailed)
                }
                try say("\(from) to \(player.name): \(text)")
            }
        }
    }

    /// Lets everybody leave, and waits for that.
    func end() async throws(Complaint) {
        for player in players { try await player.give(.leave) }
        for player in players { try await player.end() }
        try say("\nall \(players.count) processes have ended")
    }

    /// Kills whoever is left.
    func abandon() { for player in players { player.abandon() } }

    private func say(_ text: String) throws(Complaint) { if !isSilent { try Terminal.put("\(text)\n") } }
}
