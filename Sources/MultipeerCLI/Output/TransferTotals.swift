package import MultipeerEssentials

/// How far all files of a command have come.
package final class TransferTotals: Sendable {
    package struct Reading: Equatable, Sendable {
        package var files = 0
        package var totalFiles: Int?
        package var bytes: UInt64 = 0
        package var totalBytes: UInt64?
        /// The name of a file that is on its way.
        package var name: String?
    }

    private struct State: Sendable {
        var reading = Reading()
        /// `most`: the bytes of files, where more are transferred with them.
        var current: [Int: (name: String, progress: TransferProgress.Updates, most: UInt64)] = [:]
    }

    private let state = Locked(State())

    package init() {}

    /// `bytes`: nil if unknown.
    package func expect(files: Int?, bytes: UInt64?) {
        state.withLock { state in
            state.reading.totalFiles = files
            state.reading.totalBytes = bytes
        }
    }

    /// `number`: any number that no other file on its way has.
    package func begin(
        _ number: Int, _ name: String, _ progress: TransferProgress.Updates, atMost most: UInt64 = .max
    ) {
        state.withLock { $0.current[number] = (name, progress, most) }
    }

    /// `files`: how many it was.
    package func end(_ number: Int, bytes: UInt64, isReceived: Bool, files: Int = 1) {
        state.withLock { state in
            state.current[number] = nil
            guard isReceived else { return }
            state.reading.files += files
            state.reading.bytes &+= bytes
        }
    }

    /// Returns the state of now.
    package func reading() async -> Reading {
        var (reading, current) = state.withLock { ($0.reading, $0.current) }
        reading.name = current.min { $0.key < $1.key }?.value.name
        for (_, progress, most) in current.values {
            var updates = progress.makeAsyncIterator()
            reading.bytes &+= min(await updates.next()?.completedBytes ?? 0, most)
        }
        return reading
    }

    /// Returns the progress of the file if it is the only one of the command.
    package func single() async -> (String, TransferProgress)? {
        let one = state.withLock { state in
            state.reading.totalFiles ?? 1 == 1 && state.current.count == 1 ? state.current.values.first : nil
        }
        guard let one else { return nil }
        var updates = one.progress.makeAsyncIterator()
        return await updates.next().map { (one.name, $0) }
    }
}
