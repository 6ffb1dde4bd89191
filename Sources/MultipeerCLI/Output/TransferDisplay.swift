import MultipeerCommandLine
import MultipeerEssentials

/// The progress line at the bottom of a terminal during transfers, and messages above it. Without a terminal, and on
/// one without escape sequences, there is no progress line.
final class TransferDisplay: Sendable {
    static let pace = Duration.milliseconds(100)

    let isShown: Bool
    private let last = Locked<ContinuousClock.Instant?>(nil)

    init(isQuiet: Bool) { isShown = !isQuiet && Terminal.hasScreen(DescriptorStream.error) }

    /// Rewrites the line, unless it was rewritten a moment ago.
    func show(_ line: @autoclosure () -> TransferLine) {
        guard isShown, isDue() else { return }
        // The last column stays free: some terminals wrap to the next line after it.
        Terminal.rewriteLine(line().render(width: Terminal.width - 1))
    }

    func clear() {
        guard isShown, last.withLock({ $0.take() }) != nil else { return }
        Terminal.eraseLine()
    }

    func say(_ text: String) {
        clear()
        Terminal.say(text)
    }

    /// Shows what went wrong.
    func warn(_ text: String) {
        clear()
        Terminal.warn(text)
    }

    private func isDue() -> Bool {
        last.withLock { last in
            let now = ContinuousClock.now
            if let last, last.duration(to: now) < TransferDisplay.pace { return false }
            last = now
            return true
        }
    }
}
