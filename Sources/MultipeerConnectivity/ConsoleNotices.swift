import Foundation
import MultipeerTransport

/// Lines on standard error for the developer of an application, where Apple's framework writes to the system's log.
final class ConsoleNotices: Sendable {
    static let shared = ConsoleNotices()

    private let written = Locked<Set<String>>([])

    /// Writes a line, unless the process has written the same one before.
    func write(once line: String) {
        guard written.withLock({ $0.insert(line).inserted }) else { return }
        FileHandle.standardError.write(Data("\(line.withoutTricks)\n".utf8))
    }
}
