import MultipeerConnectivity
import MultipeerFigures

/// A file as a resource: neither side keeps it in memory, and the progress of each moves often, and forwards only.
@MainActor
struct LargeFile {
    private let companion: Companion
    private let url: URL

    init(_ companion: Companion, at path: String) {
        (self.companion, url) = (companion, URL(fileURLWithPath: path))
    }

    func send() async throws -> String {
        let peer = try await companion.connect()
        let watch = try ProgressWatch()
        let error = await withCheckedContinuation { continuation in
            let progress = companion.session.sendResource(at: url, withName: "file", toPeer: peer) { error in
                continuation.resume(returning: error)
            }
            if let progress { watch.begin(progress) }
        }
        if let error { throw error }
        return try watch.end()
    }

    func receive() async throws -> String {
        let url = url
        companion.moveFiles { try FileManager.default.moveItem(at: $0, to: url) }
        _ = try await companion.connect()
        let watch = try ProgressWatch()
        for await event in companion.events {
            switch event {
            case .receiving(let progress): watch.begin(progress)
            case .received(nil): return try watch.end()
            case .received(let error?): throw error
            case .connected, .notConnected, .message, .stream: throw Failure("\(event) during the transfer")
            }
        }
        throw Failure("no more events")
    }
}

/// Reads a progress and the memory of the process all the time, on a thread of its own.
///
/// Unchecked: the lock guards what changes.
private final class ProgressWatch: @unchecked Sendable {
    private struct Change {
        let at: Date
        let count: Int64
    }

    private let lock = NSLock()
    private let before: Figures
    private var peak = 0
    private var changes: [Change] = []
    private var steps = 0
    private var hasGoneBack = false
    private var isOver = false
    private var progress: Progress?

    init() throws { before = try Figures() }

    func begin(_ progress: Progress) {
        lock.withLock {
            self.progress = progress
            changes = [Change(at: Date(), count: progress.completedUnitCount)]
        }
        Thread.detachNewThread { [self] in
            while !lock.withLock({ isOver }) {
                read(progress)
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }

    private func read(_ progress: Progress) {
        let (count, fraction) = (progress.completedUnitCount, progress.fractionCompleted)
        lock.withLock {
            let last = changes.last?.count ?? 0
            if count != last { changes.append(Change(at: Date(), count: count)) }
            hasGoneBack = hasGoneBack || count < last || fraction > 1
            steps += 1
            if steps % 20 == 0, let figures = try? Figures() { peak = max(peak, figures.memory) }
        }
    }

    /// Returns the figures as JSON. The moment at which the transfer is over is the last one that counts.
    func end() throws -> String {
        if let progress { read(progress) }
        let figures = try Figures()
        return try lock.withLock {
            isOver = true
            guard let progress, let first = changes.first, let last = changes.last else {
                throw Failure("there was no progress")
            }
            let gaps = zip(changes.dropFirst(), changes).map { $0.at.timeIntervalSince($1.at) }
            let told: [String: Any] = [
                "seconds": last.at.timeIntervalSince(first.at), "changes": changes.count - 1,
                "longest": gaps.max() ?? 0, "forwards": !hasGoneBack, "finished": progress.isFinished,
                "fraction": progress.fractionCompleted, "total": progress.totalUnitCount,
                "before": before.memory, "peak": max(peak, figures.memory),
            ]
            let data = try JSONSerialization.data(withJSONObject: told, options: .sortedKeys)
            return String(data: data, encoding: .utf8) ?? ""
        }
    }
}
