import Foundation
import MultipeerTransport

/// Lines on standard error for the developer of an application, where Apple's framework writes to the system's log.
final class ConsoleNotices: Sendable {
    static let shared = ConsoleNotices()

    private let written = Locked<Set<String>>([])
    /// More lines than that say nothing new.
    private static let most = 100

    /// Writes a line, unless the process has written the same one before.
    func write(once line: String) {
        let isNew = written.withLock { $0.count < ConsoleNotices.most && $0.insert(line).inserted }
        guard isNew else { return }
        FileHandle.standardError.write(Data("\(line.withoutTricks)\n".utf8))
    }
}
