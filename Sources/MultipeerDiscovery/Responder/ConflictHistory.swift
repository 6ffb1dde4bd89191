import MultipeerCore

/// How often names of ours were lost in conflicts recently: after many losses, probing slows down. RFC 6762,
/// 8.1. [mdns.probe]
struct ConflictHistory: Sendable {
    private var moments: [Moment] = []

    private static let most = 15
    private static let window = Duration.seconds(10)
    private static let pause = Duration.seconds(5)

    /// Adds a conflict; returns how long to wait before probing again.
    mutating func add(at now: Moment) -> Duration {
        moments = (moments + [now]).suffix(ConflictHistory.most)
        return areMany(at: now) ? ConflictHistory.pause : .zero
    }

    func areMany(at now: Moment) -> Bool {
        guard moments.count == ConflictHistory.most, let first = moments.first else { return false }
        return now - first < ConflictHistory.window
    }
}
