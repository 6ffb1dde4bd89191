import Foundation
import Multipeer

/// Processes that become a mesh: each invites whoever it finds, and whoever is linked introduces the others meanwhile.
final class MeshDemonstration: Sendable {
    private let gathering: Gathering

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(Complaint) {
        gathering = try Gathering(
            count, preference, ["--mesh", "--cap", "\(max(8, count))"] + options, isSilent: isSilent)
    }

    func run() async throws(Complaint) -> Formation {
        let formation = try await gathering.form(gathering.meet())
        try gathering.say("the mesh is full after \(Formation.text(formation.seconds ?? 0)):")
        try gathering.say(formation.roster)
        try await talk()
        return formation
    }

    /// Everybody says one line to all, and everybody must have heard all of them.
    private func talk() async throws(Complaint) {
        let players = gathering.players
        let start = ContinuousClock.now
        for player in players { try await player.give(.say(text: "hello from \(player.name)")) }
        for player in players {
            var missing = Set(players.map(\.name)).subtracting([player.name])
            while !missing.isEmpty {
                let (from, text) = try await player.heard()
                guard text == "hello from \(from)", missing.remove(from) != nil else {
                    throw Complaint(
                        "\(player.name) heard something wrong: \(text.printable)", exit: .linkFailed)
                }
            }
        }
        for player in players { try gathering.say("\(player.name) to all: hello from \(player.name)") }
        try gathering.say("everybody heard everybody, \(Amount.duration(start.duration(to: .now)))")
    }

    func end() async throws(Complaint) { try await gathering.end() }

    func abandon() { gathering.abandon() }
}
