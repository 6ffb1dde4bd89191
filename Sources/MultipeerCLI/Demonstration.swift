import Foundation
import Multipeer

/// A few processes that find each other, talk, and measure what their links can do.
final class Demonstration: Sendable {
    private let gathering: Gathering
    private let expectation: EncryptionOutcome

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(Complaint) {
        gathering = try Gathering(count, preference, options, isSilent: isSilent)
        expectation = preference == .none ? .plain : .encrypted
    }

    func run(_ seconds: Double) async throws(Complaint) -> [DemoPair] {
        let formation = try await gathering.form(gathering.meet())
        for link in formation.links {
            let protection = link.protection
            guard protection.isEncrypted == (expectation == .encrypted),
                protection.isEncrypted == (protection.suite != nil)
            else {
                throw Complaint(
                    "\(link.peers.joined(separator: " and ")) are not protected as they should be",
                    exit: .linkFailed)
            }
        }
        try await greet()
        var pairs: [DemoPair] = []
        for link in formation.links.sorted(by: { $0.peers.lexicographicallyPrecedes($1.peers) }) {
            guard let one = gathering.players.first(where: { $0.name == link.peers[0] }),
                let other = gathering.players.first(where: { $0.name == link.peers[1] })
            else { continue }
            let delivery = try await one.deliver(to: other)
            try gathering.say(
                DemoTable.lines(from: one.name, delivery, isEncrypted: link.protection.isEncrypted))
            let speed = try await one.measure(other, seconds / Double(formation.links.count))
            pairs.append(DemoPair(link: link, speed: speed, delivery: delivery))
        }
        return pairs
    }

    private func greet() async throws(Complaint) {
        let players = gathering.players
        for player in players { try await player.give(.greet) }
        for player in players {
            var missing = Set(players.map(\.name)).subtracting([player.name])
            while !missing.isEmpty {
                let (from, text) = try await player.heard()
                guard missing.remove(from) != nil, text == "hello \(player.name), this is \(from)" else {
                    throw Complaint(
                        "\(player.name) heard something wrong: \(text.printable)", exit: .linkFailed)
                }
                try gathering.say("\(from) to \(player.name): \(text)")
            }
        }
    }

    func end() async throws(Complaint) {
        try gathering.say("")
        try await gathering.end()
    }

    func abandon() { gathering.abandon() }
}
