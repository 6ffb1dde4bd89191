import Foundation
import Multipeer

/// How much went each way, and the line that shows it on a terminal.
final class Progress: Sendable {
    private struct Count: Sendable {
        var sent = 0
        var received = 0
    }

    private let count = Locked(Count())
    private let start = ContinuousClock.now
    private static let pace = Duration.milliseconds(250)

    func sent(_ bytes: Int) { count.withLock { $0.sent += bytes } }

    func received(_ bytes: Int) { count.withLock { $0.received += bytes } }

    /// Rewrites one line on standard error until the task is cancelled.
    func show() async {
        while !Task.isCancelled {
            Terminal.show("\r\u{1b}[K\(summary)")
            try? await Task.sleep(for: Progress.pace)
        }
        Terminal.show("\r\u{1b}[K")
    }

    /// All of it so far, and how fast.
    var summary: String {
        let now = count.withLock { $0 }
        let time = max(start.duration(to: .now).seconds, 0.001)
        let rate = Double(now.sent + now.received) / time
        return
            "sent \(Amount.bytes(now.sent)), received \(Amount.bytes(now.received)), \(Amount.bytes(Int(rate)))/s"
    }
}

/// Numbers as people read them.
enum Amount {
    static func bytes(_ count: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(count)
        var unit = 0
        while value >= 1_024, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        return unit == 0 ? "\(count) B" : "\(rounded(value)) \(units[unit])"
    }

    static func duration(_ duration: Duration) -> String {
        let seconds = duration.seconds
        if seconds < 0.001 { return "\(rounded(seconds * 1e6)) µs" }
        return seconds < 1 ? "\(rounded(seconds * 1e3)) ms" : "\(rounded(seconds)) s"
    }

    /// Two or more digits.
    private static func rounded(_ value: Double) -> String {
        String(format: value < 10 ? "%.1f" : "%.0f", value)
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
