import Foundation
import Multipeer
import MultipeerCommandLine

/// A few processes that find each other, exchange data, and measure their links.
final class Demonstration: Sendable {
    private let group: DemoProcessGroup
    private let expectation: EncryptionPreference.Outcome

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(CommandError) {
        group = try DemoProcessGroup(count, preference, options, isSilent: isSilent)
        expectation = preference == .none ? .plain : .encrypted
    }

    func run(_ seconds: Double) async throws(CommandError) -> [DemoPair] {
        let timeline = try await group.form(group.meet())
        for link in timeline.links {
            let protection = link.protection
            guard protection.isEncrypted == (expectation == .encrypted),
                protection.isEncrypted == (protection.suite != nil)
            else {
                throw CommandError(
                    "unexpected protection of the link between \(link.peers.joined(separator: " and "))",
                    exit: .linkFailed)
            }
        }
        try await greet()
        var pairs: [DemoPair] = []
        for link in timeline.links.sorted(by: { $0.peers.lexicographicallyPrecedes($1.peers) }) {
            guard let one = group.processes.first(where: { $0.name == link.peers[0] }),
                let other = group.processes.first(where: { $0.name == link.peers[1] })
            else { continue }
            let delivery = try await one.deliver(to: other)
            try group.say(
                DemoTable.lines(from: one.name, delivery, isEncrypted: link.protection.isEncrypted))
            let speed = try await one.measure(other, seconds / Double(timeline.links.count))
            pairs.append(DemoPair(link: link, speed: speed, delivery: delivery))
        }
        return pairs
    }

    private func greet() async throws(CommandError) {
        let processes = group.processes
        for process in processes { try await process.give(.greet) }
        for process in processes {
            var missing = Set(processes.map(\.name)).subtracting([process.name])
            while !missing.isEmpty {
                let (from, text) = try await process.heard()
                guard missing.remove(from) != nil, text == "hello \(process.name), this is \(from)" else {
                    throw CommandError(
                        "\(process.name) received an unexpected message: \(text.printable)", exit: .linkFailed
                    )
                }
                try group.say("\(from) to \(process.name): \(text)")
            }
        }
    }

    func end() async throws(CommandError) {
        try group.say("")
        try await group.end()
    }

    func abandon() { group.abandon() }
}
