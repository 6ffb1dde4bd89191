package import Multipeer
import MultipeerSimulation

/// A minute in a room of eight: it splits into two halves and comes together again, one member's process dies and one
/// member's machine vanishes.
package struct Evening: Sendable {
    package let history: [String]
    /// The members that are present at the end, by name.
    package let members: [String: Memory]
    package let steps: Int

    /// What one of them knows in the end.
    package struct Memory: Sendable {
        package let peer: PeerID
        package let present: Set<PeerID>
        package let heard: [PeerID: Member.Heard]
        package let said: [PeerID: [UInt32]]
    }

    package static let names = ["ann", "bob", "cas", "dan", "eve", "fay", "gus", "hal"]
    /// The peer that dies, and the one that vanishes.
    package static let dead = ["dan", "gus"]

    /// The numbers that are sent while there are two halves, each at its second, including those that find no link any
    /// more.
    package static let split = 10...22

    /// 0 or 1.
    package static func half(of peer: PeerID) -> Int {
        names.firstIndex(of: peer.displayName).map { $0 / 4 } ?? 0
    }

    package init(seed: UInt64, preference: EncryptionPreference = .required) async throws {
        let network = SimulatedNetwork(seed: seed)
        members = try await network.run { network in
            try await Evening.room(on: network, preference)
        }
        history = network.history
        steps = network.steps
    }

    private static func room(
        on network: SimulatedNetwork, _ preference: EncryptionPreference
    ) async throws -> [String: Memory] {
        let hosts = try names.map { try network.host($0) }
        let members = try hosts.map { host in
            let member = try Member(
                host.peer, session: host.session(Session.Configuration(encryption: preference)),
                discovery: host.discovery(), log: { network.note($0) })
            host.task { try await member.run(on: network.clock) }
            return member
        }
        try await network.clock.sleep(for: .seconds(10))
        network.partition(Array(hosts[..<4]), Array(hosts[4...]))
        try await network.clock.sleep(for: .seconds(20))
        network.heal()
        try await network.clock.sleep(for: .seconds(5))
        network.kill(hosts[3])
        network.kill(hosts[6], silently: true)
        try await network.clock.sleep(for: .seconds(25))
        var memories: [String: Memory] = [:]
        for (host, member) in zip(hosts, members) where host.isAlive {
            memories[host.name] = Memory(
                peer: member.peer, present: await member.present, heard: await member.heard,
                said: await member.said)
        }
        return memories
    }
}
