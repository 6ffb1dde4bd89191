import Foundation
import Multipeer

/// Processes that become a mesh: each is given the connection data of its neighbours in a chain, and of nobody else.
final class MeshDemonstration: Sendable {
    private struct News: Sendable {
        let player: Player
        let report: Result<DemoReport, Complaint>
        let time: Duration
    }

    private let players: [Player]
    private let isSilent: Bool

    init(_ count: Int, _ preference: EncryptionPreference, isSilent: Bool) throws(Complaint) {
        players = try Player.start(count, preference, ["--mesh", "--cap", "\(max(8, count))"])
        self.isSilent = isSilent
    }

    func run() async throws(Complaint) -> MeshFormation {
        for player in players { try await player.begin() }
        let list = players.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
        try say("started \(list)")
        try say("carried connection data along a chain: \(players.map(\.name).joined(separator: " - "))")
        let start = ContinuousClock.now
        let news = listen(since: start)
        // The one with the higher id waits, the other one dials: whoever waits is told first.
        let pairs = try zip(players, players.dropFirst()).map { one, next throws(Complaint) in
            try one.uid < next.uid ? (dialler: one, waiter: next) : (dialler: next, waiter: one)
        }
        for pair in pairs { try await pair.waiter.give(.join(data: pair.dialler.data)) }
        for pair in pairs { try await pair.dialler.give(.join(data: pair.waiter.data)) }
        let formation = try await form(news)
        try await talk(news)
        return formation
    }

    /// What everybody reports, with the time at which it was heard.
    private func listen(since start: ContinuousClock.Instant) -> AsyncStream<News> {
        let (news, heard) = AsyncStream<News>.makeStream()
        for player in players {
            Task {
                while true {
                    do throws(Complaint) {
                        let report = try await player.next()
                        heard.yield(
                            News(player: player, report: .success(report), time: start.duration(to: .now)))
                    } catch {
                        heard.yield(
                            News(player: player, report: .failure(error), time: start.duration(to: .now)))
                        return
                    }
                }
            }
        }
        return news
    }

    private func form(_ news: AsyncStream<News>) async throws(Complaint) -> MeshFormation {
        var formation = MeshFormation(players.map(\.name))
        for await one in news {
            switch try one.report.get() {
            case .joined(let peer):
                guard let link = formation.note(one.player.name, joined: peer, at: one.time) else { continue }
                try say(formation.line(for: link))
                if formation.isFull { return try finish(formation) }
            case .lost(let peer, let reason):
                formation.note(one.player.name, lost: peer)
                let time = Amount.duration(one.time)
                try say(
                    "\(time.padded(to: 8))  \(one.player.name) lost \(peer.printable): \(reason.printable)")
            default: break
            }
        }
        throw Complaint("the demonstration was given up", exit: .linkFailed)
    }

    private func finish(_ formation: MeshFormation) throws(Complaint) -> MeshFormation {
        try say("the mesh is full after \(Amount.duration(.seconds(formation.seconds ?? 0))):")
        try say(formation.roster)
        return formation
    }

    /// Everybody says one line to all, and everybody must have heard all of them.
    private func talk(_ news: AsyncStream<News>) async throws(Complaint) {
        let start = ContinuousClock.now
        for player in players { try await player.give(.say(text: "hello from \(player.name)")) }
        let names = Set(players.map(\.name))
        var missing = Dictionary(uniqueKeysWithValues: names.map { ($0, names.subtracting([$0])) })
        for await one in news {
            switch try one.report.get() {
            case .heard(let from, let text)
            where text == "hello from \(from)" && missing[one.player.name]?.remove(from) != nil:
                let isHeardByAll = missing.allSatisfy { $0.key == from || !$0.value.contains(from) }
                if isHeardByAll { try say("\(from) to all: hello from \(from)") }
            case .heard(_, let text):
                throw Complaint(
                    "\(one.player.name) heard something wrong: \(text.printable)", exit: .linkFailed)
            case .lost(let peer, let reason):
                throw Complaint(
                    "\(one.player.name) lost \(peer.printable): \(reason.printable)", exit: .linkFailed)
            default: break
            }
            if missing.values.allSatisfy(\.isEmpty) { break }
        }
        try say("everybody heard everybody, \(Amount.duration(start.duration(to: .now)))")
    }

    /// Lets everybody leave, and waits for that.
    func end() async throws(Complaint) {
        for player in players { try await player.give(.leave) }
        for player in players { try await player.end() }
        try say("all \(players.count) processes have ended")
    }

    /// Kills whoever is left.
    func abandon() { for player in players { player.abandon() } }

    private func say(_ text: String) throws(Complaint) { if !isSilent { try Terminal.put("\(text)\n") } }
}
