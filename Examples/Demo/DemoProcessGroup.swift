import Foundation
import Multipeer
import MultipeerCommandLine

/// The processes of a demonstration, and how they find each other: on loopback only, under a unique service type.
final class DemoProcessGroup: Sendable {
    /// One report, with the time since all were ordered to meet.
    struct TimedReport: Sendable {
        let process: DemoProcess
        let report: Result<DemoReport, CommandError>
        let time: Duration
    }

    let processes: [DemoProcess]
    let type: String
    private let isSilent: Bool

    init(
        _ count: Int, _ preference: EncryptionPreference, _ options: [String], isSilent: Bool
    ) throws(CommandError) {
        type = "demo-" + DemoProcessGroup.letters(8)
        processes = try DemoProcess.start(count, preference, ["--type", type] + options)
        self.isSilent = isSilent
    }

    private static func letters(_ count: Int) -> String {
        String((0..<count).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "x" })
    }

    /// Lets the processes meet. Returns their reports, until the caller stops reading.
    func meet() async throws(CommandError) -> AsyncStream<TimedReport> {
        for process in processes { try await process.begin() }
        let list = processes.map { "\($0.name) (process \($0.id))" }.joined(separator: ", ")
        try say("started \(list)")
        try say("browsing for the service type \(type) on this machine only")
        let start = ContinuousClock.now
        for process in processes { try await process.give(.meet) }
        return listen(since: start)
    }

    /// Returns the reports of each process, until it is linked with all others.
    private func listen(since start: ContinuousClock.Instant) -> AsyncStream<TimedReport> {
        let (news, heard) = AsyncStream<TimedReport>.makeStream()
        for process in processes {
            Task {
                var missing = Set(processes.map(\.name)).subtracting([process.name])
                while !missing.isEmpty {
                    let report: Result<DemoReport, CommandError>
                    do throws(CommandError) {
                        report = .success(try await process.next())
                    } catch {
                        report = .failure(error)
                    }
                    heard.yield(TimedReport(process: process, report: report, time: start.duration(to: .now)))
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

    /// Takes the reports until all processes are linked with each other.
    func form(_ news: AsyncStream<TimedReport>) async throws(CommandError) -> DemoTimeline {
        var timeline = DemoTimeline(processes.map(\.name))
        for await one in news {
            let name = one.process.name
            switch try one.report.get() {
            case .found(let peer):
                if timeline.note(name, found: peer, at: one.time) {
                    let time = HumanReadable.duration(one.time)
                    try say("\(time.padded(to: 8))  all peers have found each other")
                }
            case .invited(let peer): timeline.note(name, invitedBy: peer, at: one.time)
            case .linked(let end):
                guard let link = try timeline.note(name, end, at: one.time) else { continue }
                try say(timeline.line(for: link))
                if timeline.isFull { return timeline }
            case .lost(let peer, let reason):
                timeline.note(name, lost: peer)
                let time = HumanReadable.duration(one.time)
                try say("\(time.padded(to: 8))  \(name) lost \(peer.printable): \(reason.printable)")
            default: break
            }
        }
        throw CommandError("the demo was aborted", exit: .linkFailed)
    }

    /// Lets all processes leave, and waits for their ends.
    func end() async throws(CommandError) {
        for process in processes { try await process.give(.leave) }
        for process in processes { try await process.end() }
        try say("all \(processes.count) processes have ended")
    }

    /// Kills the remaining processes.
    func abandon() { for process in processes { process.abandon() } }

    func say(_ text: String) throws(CommandError) { if !isSilent { try Terminal.put("\(text)\n") } }
}
