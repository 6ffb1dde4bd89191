import Foundation

/// The file to which a process writes its history: every line at once and whole, so that it survives any end of the
/// process.
package struct HistoryFile: Sendable {
    package struct Failure: Error, CustomStringConvertible { package let description: String }

    private let descriptor: Int32

    /// Continues the file, or begins it.
    package init(path: String) throws(Failure) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "cannot write '\(path)'") }
    }

    /// Stamps the entry with the time and writes it. A history with a gap proves nothing, so a failure ends the process.
    package func write(_ entry: Entry) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let stamped = entry.with { $0.t = Self.now() }
        guard var bytes = (try? encoder.encode(stamped)).map(Array.init) else {
            fatalError("cannot encode an entry: \(entry)")
        }
        bytes.append(UInt8(ascii: "\n"))
        let written = unsafe bytes.withUnsafeBytes {
            unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
        }
        precondition(written == bytes.count, "cannot write the history")
    }

    /// Returns nanoseconds of CLOCK_BOOTTIME, which goes on while the machine sleeps and while the process is stopped.
    package static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
