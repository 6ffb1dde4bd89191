/// How far a transfer has come.
public struct TransferProgress: Sendable, Hashable {
    /// Completed bytes: written to the link by the sender, to the file by the receiver. It never decreases.
    public let completed: UInt64
    /// The total number of bytes; nil while it is unknown.
    public let total: UInt64?
    /// The completed fraction, from 0 to 1; nil while the total is unknown. It is 1 only when the transfer has succeeded.
    public let fraction: Double?
    /// Bytes per second, averaged over the last few seconds.
    public let rate: Double
    /// The estimated remaining time at this rate; nil when unknown.
    public let timeLeft: Duration?
    /// The elapsed time.
    public let elapsed: Duration

    init(completed: UInt64, total: UInt64?, hasSucceeded: Bool, rate: Double, elapsed: Duration) {
        self.completed = completed
        self.total = hasSucceeded ? completed : total
        self.rate = rate
        self.elapsed = elapsed
        fraction = TransferProgress.fraction(completed, of: total, hasSucceeded)
        timeLeft = hasSucceeded ? .zero : TransferProgress.timeLeft(completed, of: total, at: rate)
    }

    private static func fraction(_ completed: UInt64, of total: UInt64?, _ hasSucceeded: Bool) -> Double? {
        if hasSucceeded { return 1 }  // [resource.done]
        guard let total else { return nil }
        if total == 0 { return 0 }
        return min(Double(completed) / Double(total), 1.nextDown)
    }

    private static func timeLeft(_ completed: UInt64, of total: UInt64?, at rate: Double) -> Duration? {
        guard let total else { return nil }
        let rest = total > completed ? Double(total - completed) : 0
        let seconds = rest / rate
        // A time of a hundred days is of no use to a user.
        return seconds <= 8_640_000 ? .seconds(seconds) : nil
    }
}

extension TransferProgress: CustomStringConvertible {
    /// For example "1024 of 4096 bytes".
    public var description: String {
        total.map { "\(completed) of \($0) bytes" } ?? "\(completed) bytes"
    }
}
