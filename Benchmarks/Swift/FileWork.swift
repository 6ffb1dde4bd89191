import Foundation
import Multipeer
import MultipeerBenchCommon

/// Files one way, from and to memory, so that no disk is measured; or ping-pong while one is on its way.
struct FileWork: Sendable {
    let assignment: Assignment
    private let clock = SuspendingClock()
    private static let memory = URL(
        fileURLWithPath: ProcessInfo.processInfo.environment["MULTIPEER_BENCH_FOLDER"] ?? "/dev/shm",
        isDirectory: true)
    /// The number of files that are on the way at a time in `files`.
    private static let atOnce = 16

    init(_ assignment: Assignment) { self.assignment = assignment }

    func run() async throws -> Report {
        let party = try await Party(assignment.side)
        let folder = Self.memory.appendingPathComponent("multipeer-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = (0..<(assignment.mode == .laden ? 1 : assignment.count)).map {
            folder.appendingPathComponent("source-\($0)")
        }
        if assignment.side == .client {
            try Self.fill(sources, assignment.mode == .laden ? 1 << 30 : assignment.size)
        }
        try await party.link()
        let before = Resources.cpuSeconds
        var report =
            switch (assignment.side, assignment.mode) {
            case (.client, .laden): try await ping(party, beside: sources[0])
            case (.server, .laden): try await echo(party, into: folder)
            case (.client, .files): try await sendAtOnce(sources, party)
            case (.client, _): try await send(sources, party)
            case (.server, _): try await receive(party, into: folder)
            }
        report.cpuSeconds = Resources.cpuSeconds - before
        await party.session.disconnect()
        return report
    }

    private func send(_ sources: [URL], _ party: Party) async throws -> Report {
        let start = clock.now
        for source in sources { try await send(source, party) }
        return Report(sent: sources.count, seconds: clock.seconds(since: start))
    }

    private func send(_ source: URL, _ party: Party) async throws {
        let resource = try await party.session.send(
            file: source, to: party.other.peer, digest: assignment.mode != .undigested)
        try await resource.waitUntilReceived()
    }

    private func sendAtOnce(_ sources: [URL], _ party: Party) async throws -> Report {
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in sources.prefix(Self.atOnce) { group.addTask { try await send(source, party) } }
            for source in sources.dropFirst(Self.atOnce) {
                try await group.next()
                group.addTask { try await send(source, party) }
            }
            try await group.waitForAll()
        }
        return Report(sent: sources.count, seconds: clock.seconds(since: start))
    }

    /// Receives each file in a task of its own, as an application does that expects several.
    private func receive(_ party: Party, into folder: URL) async throws -> Report {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var report = Report()
            for await event in party.session.events {
                if case .resource(let resource) = event {
                    report.received += 1
                    group.addTask {
                        let file = try await resource.receive(into: folder)
                        guard file.size == UInt64(assignment.size) else {
                            throw BenchFault.wrongLength(Int(clamping: file.size))
                        }
                    }
                } else if case .peer(_, .notConnected) = event {
                    try await group.waitForAll()
                    return report
                }
            }
            throw BenchFault.endedEarly
        }
    }

    // MARK: round trips during a file

    private func ping(_ party: Party, beside source: URL) async throws -> Report {
        let files = Task {
            while !Task.isCancelled {
                let resource = try await party.session.send(file: source, to: party.other.peer, digest: false)
                try await withTaskCancellationHandler {
                    try await resource.waitUntilReceived()
                } onCancel: {
                    resource.cancel()
                }
            }
        }
        defer { files.cancel() }
        try await untilUnderWay(party)
        return try await Work.onTheLoop(party) { try await Work(assignment).ping(party) }
    }

    /// Waits until the file is being sent: the other side reports when it has the first bytes.
    private func untilUnderWay(_ party: Party) async throws {
        for await event in party.session.events {
            if case .message = event { return }
        }
        throw BenchFault.endedEarly
    }

    private func echo(_ party: Party, into folder: URL) async throws -> Report {
        let received = try await Work.onTheLoop(party) { () async throws -> Report in
            var report = Report()
            var isFirst = true
            for await event in party.session.events {
                switch event {
                case .message(let message):
                    report.received += 1
                    try await party.session.send(message.bytes, to: party.other.peer)
                case .resource(let resource):
                    let announces = isFirst
                    isFirst = false
                    Task.detached { await take(resource, party, into: folder, announces: announces) }
                case .peer(_, .notConnected): return report
                default: break
                }
            }
            throw BenchFault.endedEarly
        }
        return received
    }

    private func take(
        _ resource: IncomingResource, _ party: Party, into folder: URL, announces: Bool
    ) async {
        let watch = Task {
            if !announces { return }
            for await progress in resource.progress where progress.completedBytes > 0 {
                try await party.session.send([0], to: party.other.peer)
                return
            }
        }
        // The last one is cancelled when enough was measured.
        if let file = try? await resource.receive(into: folder) {
            try? FileManager.default.removeItem(at: file.url)
        }
        watch.cancel()
    }

    /// Returns bytes that nothing compresses: xorshift, because a call of the system for each byte showed in profiles.
    private static func noise(_ count: Int) -> [UInt8] {
        var state = UInt64.random(in: 1 ... .max)
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }

    static func fill(_ files: [URL], _ size: Int) throws {
        let block = Data(noise(1 << 20))
        for file in files {
            guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
                throw BenchFault.endedEarly
            }
            let handle = try FileHandle(forWritingTo: file)
            for _ in 0..<(size >> 20) { try handle.write(contentsOf: block) }
            try handle.write(contentsOf: block.prefix(size & (1 << 20 - 1)))
            try handle.close()
        }
    }
}
