import Foundation
import Multipeer

/// The processes of a demonstration, and how they find each other: on loopback alone, under a service type that nobody
/// else has.
final class Gathering: Sendable {
    /// One report, with the time since all were told to meet.
    struct News: Sendable {
        let player: Player
        let report: Result<DemoReport, Complaint>
        let time: Duration
    }

    let players: [Player]
    let type: String
    private let isSilent: Bool

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(Complaint) {
        type = "demo-" + Gathering.letters(8)
        players = try Player.start(count, preference, ["--type", type] + options)
        self.isSilent = isSilent
    }

    private static func letters(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })
    }

    /// Lets them meet. `news` goes on until whoever reads it has heard enough.
    func meet() async throws(Complaint) -> AsyncStream<News> {
        for player in players { try await player.begin() }
        let list = players.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
        try say("started \(list)")
        try say("they look for the service type \(type) on this machine alone")
        let start = ContinuousClock.now
        for player in players { try await player.give(.meet) }
        return listen(since: start)
    }

    /// What everybody reports, until it is linked with all others; then only what its owner asks for.
    private func listen(since start: ContinuousClock.Instant) -> AsyncStream<News> {
        let (news, heard) = AsyncStream<News>.makeStream()
        for player in players {
            Task {
                var missing = Set(players.map(\.name)).subtracting([player.name])
                while !missing.isEmpty {
                    let report: Result<DemoReport, Complaint>
                    do throws(Complaint) {
                        report = .success(try await player.next())
                    } catch {
                        report = .failure(error)
                    }
                    heard.yield(News(player: player, report: report, time: start.duration(to: .now)))
                    switch report {
                    case .success(.linked(let link)): missing.remove(link.peer)
                    case .success(.lost(let peer, _)): missing.insert(peer)
                    case .success: break
                    case .failure: return
                    }
                }
            }
        }
        return news
    }

    /// Takes the news until everybody is linked with everybody.
    func form(_ news: AsyncStream<News>) async throws(Complaint) -> Formation {
        var formation = Formation(players.map(\.name))
        for await one in news {
            let name = one.player.name
            switch try one.report.get() {
            case .found(let peer):
                if formation.note(name, found: peer, at: one.time) {
                    let time = Amount.duration(one.time)
                    try say("\(time.padded(to: 8))  everybody has found everybody")
                }
            case .invited(let peer): formation.note(name, invitedBy: peer, at: one.time)
            case .linked(let end):
                guard let link = try formation.note(name, end, at: one.time) else { continue }
                try say(formation.line(for: link))
                if formation.isFull { return formation }
            case .lost(let peer, let reason):
                formation.note(name, lost: peer)
                let time = Amount.duration(one.time)
                try say("\(time.padded(to: 8))  \(name) lost \(peer.printable): \(reason.printable)")
            default: break
            }
        }
        throw Complaint("the demonstration was given up", exit: .linkFailed)
    }

    /// Lets everybody leave, and waits for that.
    func end() async throws(Complaint) {
        for player in players { try await player.give(.leave) }
        for player in players { try await player.end() }
        try say("all \(players.count) processes have ended")
    }

    /// Kills whoever is left.
    func abandon() { for player in players { player.abandon() } }

    func say(_ text: String) throws(Complaint) { if !isSilent { try Terminal.put("\(text)\n") } }
}
