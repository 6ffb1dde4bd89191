import MultipeerCommandLine
import MultipeerEssentials

/// How many bytes went each way, and the line that shows it on a terminal.
final class ByteCounter: Sendable {
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
            Terminal.rewriteLine(summary)
            try? await Task.sleep(for: ByteCounter.pace)
        }
        Terminal.eraseLine()
    }

    /// The totals so far, and the rate.
    var summary: String {
        let now = count.withLock { $0 }
        let time = max(start.duration(to: .now).seconds, 0.001)
        let rate = Double(now.sent + now.received) / time
        return
            "sent \(HumanReadable.bytes(now.sent)), received \(HumanReadable.bytes(now.received)), \(HumanReadable.bytes(Int(rate)))/s"
    }
}
