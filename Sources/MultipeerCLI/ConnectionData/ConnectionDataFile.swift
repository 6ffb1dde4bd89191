import MultipeerCommandLine
import MultipeerEssentials

/// A file that contains another peer's connection data, or will contain it.
struct ConnectionDataFile: Sendable {
    let path: String
    private let worker: Worker
    private static let retry = Duration.milliseconds(50)

    init(_ path: String, on worker: Worker) {
        self.path = path
        self.worker = worker
    }

    var isThere: Bool { FileSystem.exists(path) }

    /// Waits until the file exists and is complete, and its contents differ from `old`; returns nil after the deadline, or
    /// when the task is cancelled.
    func contents(
        otherThan old: [UInt8]? = nil, until deadline: ContinuousClock.Instant? = nil
    ) async throws(CommandError) -> [UInt8]? {
        while deadline.map({ ContinuousClock.now < $0 }) ?? true, !Task.isCancelled {
            let contents = try await worker.run { [self] () throws(CommandError) in try now() }
            if let contents, contents != old, ConnectionDataFile.isComplete(contents) { return contents }
            try? await Task.sleep(for: ConnectionDataFile.retry)
        }
        return nil
    }

    /// Returns the current contents of the file; nil while it does not exist.
    private func now() throws(CommandError) -> [UInt8]? {
        guard isThere else { return nil }
        return try AtomicFile.read(path, as: .present, limit: 65_536)
    }

    /// Returns whether the contents are complete: a whole line, or bytes that are valid as they are.
    private static func isComplete(_ contents: [UInt8]) -> Bool {
        if contents.last == UInt8(ascii: "\n") { return true }
        guard let bytes = try? ConnectionDataInput.decode(contents: contents) else { return false }
        return (try? ConnectionData(bytes)) != nil
    }
}
