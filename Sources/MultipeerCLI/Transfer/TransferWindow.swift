import MultipeerCommandLine

/// How many files are on their way at once: many small ones, so that none waits for the confirmation of the one before, and
/// one that is large.
package struct TransferWindow: Sendable {
    package static let mostFiles = 32
    /// In bytes: what leaves in a few milliseconds.
    package static let mostBytes: UInt64 = 1 << 20

    /// In bytes, of bundles and small files: what a transfer that breaks may have to send again. Bundles count as if full.
    package static let mostLost: UInt64 = 2 << 20

    private var bundles = 0
    private var files = 0
    private var bytes: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { files == 0 && bundles == 0 }

    /// Returns whether another bundle may begin, and counts it.
    package mutating func beginBundle() -> Bool {
        guard isEmpty || isBounded(adding: UInt64(FileBundle.longest)) else { return false }
        bundles += 1
        return true
    }

    private func isBounded(adding size: UInt64) -> Bool {
        UInt64(bundles) * UInt64(FileBundle.longest) + bytes + size <= TransferWindow.mostLost
    }

    package mutating func endBundle() { bundles -= min(bundles, 1) }

    /// Returns whether another file may begin, and counts it. A file of unknown size counts as a large one.
    package mutating func begin(_ size: UInt64?) -> Bool {
        let size = TransferWindow.counted(size)
        let isFull = files == TransferWindow.mostFiles || bytes + size > TransferWindow.mostBytes
        guard isEmpty || (files == 0 || !isFull) && isBounded(adding: size) else { return false }
        files += 1
        bytes += size
        return true
    }

    /// Counts the end of a file that had begun.
    package mutating func end(_ size: UInt64?) {
        files -= min(files, 1)
        bytes -= min(bytes, TransferWindow.counted(size))
    }

    private static func counted(_ size: UInt64?) -> UInt64 { max(1, min(size ?? .max, mostBytes)) }
}
