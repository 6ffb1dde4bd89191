import Foundation
import Multipeer

/// The processes of one demonstration, and what is done with them.
final class Demonstration: Sendable {
    private static let names = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"]

    private let players: [Player]
    private let isSilent: Bool
    private let expectation: EncryptionOutcome

    init(_ count: Int, _ preference: EncryptionPreference, isSilent: Bool) throws(Complaint) {
        var players: [Player] = []
        do throws(Complaint) {
            for name in Demonstration.names.prefix(count) { players.append(try Player(name, preference)) }
        } catch {
            for player in players { player.abandon() }
            throw error
        }
        self.players = players
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

/// One of the processes, as the demonstration sees it.
private final class Player: Sendable {
    let name: String
    private let process: ChildProcess
    private let worker: Worker
    private let identity = Locked<(uid: UID, data: String)?>(nil)

    init(_ name: String, _ preference: EncryptionPreference) throws(Complaint) {
        self.name = name
        worker = Worker(name)
        process = try ChildProcess(
            ChildProcess.ownPath,
            [
                "demo-peer", "--name", name, "--preference", "\(preference)", "--listen", "127.0.0.1",
                "--timeout", "10",
            ])
    }

    var id: Int32 { process.id }

    var uid: UID {
        get throws(Complaint) { try known.uid }
    }

    var data: String {
        get throws(Complaint) { try known.data }
    }

    private var known: (uid: UID, data: String) {
        get throws(Complaint) {
            guard let known = identity.withLock({ $0 }) else { throw wrong("has not begun") }
            return known
        }
    }

    func begin() async throws(Complaint) {
        guard case .ready(let process, let id, let data) = try await next(), process == self.process.id,
            let uid = UID(
                stride(from: 0, to: id.count, by: 2).compactMap { start in
                    UInt8(id.dropFirst(start).prefix(2), radix: 16)
                })
        else { throw wrong("did not begin") }
        identity.withLock { $0 = (uid, data) }
    }

    func give(_ order: DemoOrder) async throws(Complaint) {
        let line = try JSON.encode(order, isPretty: false)
        do throws(Complaint) {
            try await worker.run { [process] () throws(Complaint) in try process.input.write(line) }
        } catch {
            throw await hasEnded()
        }
    }

    func isSeeking() async throws(Complaint) {
        guard case .seeking = try await next() else { throw wrong("does not seek") }
    }

    func link() async throws(Complaint) -> DemoLink {
        guard case .linked(let link) = try await next() else { throw wrong("is not linked") }
        return link
    }

    func heard() async throws(Complaint) -> (from: String, text: String) {
        guard case .heard(let from, let text) = try await next() else { throw wrong("heard nothing") }
        return (from, text)
    }

    func measure(_ other: Player, _ seconds: Double) async throws(Complaint) -> DemoSpeed {
        try await give(.measure(peer: other.name, seconds: seconds))
        guard case .measured(let speed) = try await next() else { throw wrong("has measured nothing") }
        return speed
    }

    func deliver(to other: Player) async throws(Complaint) -> DemoDelivery {
        try await give(.deliver(peer: other.name))
        guard case .delivered(let delivery) = try await next() else { throw wrong("has delivered nothing") }
        return delivery
    }

    func end() async throws(Complaint) {
        let code = try await worker.run { [process] () throws(Complaint) in process.wait() }
        guard code == 0 else { throw wrong("ended with exit code \(code)") }
    }

    func abandon() {
        process.signal(SIGKILL)
        process.wait()
    }

    private func next() async throws(Complaint) -> DemoReport {
        let line = try await worker.run { [process] () throws(Complaint) in try process.output.readLine() }
        guard let line else { throw await hasEnded() }
        guard let report = JSON.decode(DemoReport.self, from: line) else {
            throw wrong("said something strange")
        }
        if case .failed(let text) = report { throw Complaint(text.printable, exit: .linkFailed) }
        return report
    }

    private func hasEnded() async -> Complaint {
        let code = try? await worker.run { [process] () throws(Complaint) in process.wait() }
        return wrong("ended unexpectedly, exit code \(code ?? -1)")
    }

    private func wrong(_ text: String) -> Complaint { Complaint("\(name) \(text)", exit: .linkFailed) }
}
