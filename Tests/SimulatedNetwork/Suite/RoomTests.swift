import Foundation
import Multipeer
import MultipeerSimulation
import SimulatedRoom
import TestSupport
import Testing

@Suite("An application on a simulated network", .computing)
struct RoomTests {
    @Test(
        "a room of eight is complete again after a split and two deaths",
        arguments: [(1, .required), (2, .none)] as [(UInt64, EncryptionPreference)])
    func room(_ seed: UInt64, _ preference: EncryptionPreference) async throws {
        let start = ContinuousClock.now
        let evening = try await Evening(seed: seed, preference: preference)
        print("a minute in the room, seed \(seed): \(ContinuousClock.now - start), \(evening.steps) steps")
        let alive = Set(Evening.names).subtracting(Evening.dead)
        #expect(Set(evening.members.keys) == alive)
        for (name, memory) in evening.members {
            #expect(Set(memory.present.map(\.displayName)) == alive.subtracting([name]), "\(name)")
            for other in alive where other != name {
                try checkNumbers(from: #require(evening.members[other]), to: memory)
            }
            checkDead(memory)
        }
    }

    /// Checks that messages to a peer come once and in order; those that do not come were sent while the room was
    /// split.
    private func checkNumbers(from speaker: Evening.Memory, to listener: Evening.Memory) {
        let said = speaker.said[listener.peer, default: []]
        let heard = listener.heard[speaker.peer]?.numbers ?? []
        let title: Comment = "\(speaker.peer.displayName) to \(listener.peer.displayName)"
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 < $1 }, title)
        #expect(Set(heard).isSubset(of: said), title)
        // The last number is sent in the last second, and may be in flight.
        let lost = said.dropLast().filter { !heard.contains($0) }
        #expect(lost.allSatisfy { Evening.split ~= Int($0) }, "\(title): \(lost)")
        let areTogether = Evening.half(of: speaker.peer) == Evening.half(of: listener.peer)
        #expect(lost.isEmpty == areTogether, title)
        #expect(listener.heard[speaker.peer]?.ends.isEmpty == areTogether, title)
    }

    /// Checks that a peer whose process dies is lost, and that one that vanishes is given up in time.
    private func checkDead(_ memory: Evening.Memory) {
        let ends = memory.heard.map { ($0.key.displayName, $0.value.ends.last?.code) }
        #expect(ends.contains { $0 == ("dan", .lost) })
        #expect(ends.contains { $0 == ("gus", .timedOut) })
    }

    @Test("the same seed gives the same history, and another seed another history")
    func repeated() async throws {
        let first = try await Evening(seed: 7)
        let second = try await Evening(seed: 7)
        let other = try await Evening(seed: 8)
        #expect(first.history == second.history && first.steps == second.steps)
        #expect(first.history != other.history)
        #expect(first.history.count > 2_000)
    }

    @Test(
        "the same seed gives the same history in processes that order their sets and dictionaries differently"
    )
    func processes() async throws {
        async let first = history(seed: 5)
        async let second = history(seed: 5)
        let (one, other) = try await (first, second)
        #expect(one == other)
        #expect(one.hasSuffix(" steps\n"))
    }

    /// What the program beside the tests prints.
    private func history(seed: UInt64) async throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(filePath: own).deletingLastPathComponent().appending(path: "simulate-room")
        let ending = await (try ToolProcess(program.path, ["\(seed)"])).end()
        #expect(ending.code == 0)
        return ending.output
    }
}
