import Foundation
import Multipeer
import MultipeerCommandLine

/// Processes that form a mesh: each invites every peer that it finds, and linked peers introduce the others.
final class MeshDemonstration: Sendable {
    private let group: DemoProcessGroup

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(CommandError) {
        group = try DemoProcessGroup(
            count, preference, ["--mesh", "--cap", "\(max(8, count))"] + options, isSilent: isSilent)
    }

    func run() async throws(CommandError) -> DemoTimeline {
        let timeline = try await group.form(group.meet())
        try group.say("mesh complete after \(DemoTimeline.text(timeline.seconds ?? 0)):")
        try group.say(timeline.roster)
        try await talk()
        return timeline
    }

    /// Each process sends one line to all, and each must receive all of them.
    private func talk() async throws(CommandError) {
        let processes = group.processes
        let start = ContinuousClock.now
        for process in processes { try await process.give(.say(text: "hello from \(process.name)")) }
        for process in processes {
            var missing = Set(processes.map(\.name)).subtracting([process.name])
            while !missing.isEmpty {
                let (from, text) = try await process.heard()
                guard text == "hello from \(from)", missing.remove(from) != nil else {
                    throw CommandError(
                        "\(process.name) received an unexpected message: \(text.printable)", exit: .linkFailed
                    )
                }
            }
        }
        for process in processes { try group.say("\(process.name) to all: hello from \(process.name)") }
        try group.say("all messages received, \(HumanReadable.duration(start.duration(to: .now)))")
    }

    func end() async throws(CommandError) { try await group.end() }

    func abandon() { group.abandon() }
}
