/// How far a transfer has come.
public struct TransferProgress: Sendable, Hashable {
    /// Completed bytes: written to the link by the sender, to the file by the receiver. It never decreases.
    public let completedBytes: UInt64
    /// The total number of bytes; nil while it is unknown.
    public let totalBytes: UInt64?
    /// The completed fraction, from 0 to 1; nil while the total is unknown. It is 1 only when the transfer has succeeded.
    public let fractionCompleted: Double?
    /// The throughput, averaged over the last few seconds.
    public let bytesPerSecond: Double
    /// The estimated remaining time at this rate; nil when unknown.
    public let estimatedTimeRemaining: Duration?
    /// The elapsed time.
    public let elapsed: Duration

    init(completed: UInt64, total: UInt64?, hasSucceeded: Bool, rate: Double, elapsed: Duration) {
        completedBytes = completed
        totalBytes = hasSucceeded ? completed : total
        bytesPerSecond = rate
        self.elapsed = elapsed
        fractionCompleted = TransferProgress.fraction(completed, of: total, hasSucceeded)
        estimatedTimeRemaining =
            hasSucceeded ? .zero : TransferProgress.timeRemaining(completed, of: total, at: rate)
    }

    private static func fraction(_ completed: UInt64, of total: UInt64?, _ hasSucceeded: Bool) -> Double? {
        if hasSucceeded { return 1 }  // [resource.done]
        guard let total else { return nil }
        if total == 0 { return 0 }
        return min(Double(completed) / Double(total), 1.nextDown)
    }

    private static func timeRemaining(_ completed: UInt64, of total: UInt64?, at rate: Double) -> Duration? {
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
        totalBytes.map { "\(completedBytes) of \($0) bytes" } ?? "\(completedBytes) bytes"
    }
}
