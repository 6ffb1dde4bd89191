/// A token bucket for frames.
struct FrameTokenBucket {
    private let size: Double
    private let perSecond: Double
    private var level: Double
    private var filled = Instant.now

    init(size: Double, perSecond: Double) {
        self.size = size
        self.perSecond = perSecond
        level = size
    }

    /// Takes a token; returns false when there is none.
    mutating func take() -> Bool {
        let now = Instant.now
        level = min(size, level + (now - filled) / .seconds(1) * perSecond)
        filled = now
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    mutating func add(_ more: Int) { level = min(size, level + Double(more)) }
}
