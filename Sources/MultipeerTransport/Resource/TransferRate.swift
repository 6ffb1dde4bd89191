import MultipeerPlatform

/// Bytes in a second, smoothed: what is older counts less, by a factor of e every two seconds.
struct TransferRate {
    private static let memory = 2.0
    /// Shorter spans say more about buffers than about the way.
    private static let shortest = 0.05

    private var last: Duration
    private var count: UInt64
    private var sum = 0.0
    /// The weights in `sum`: below 1 in the beginning, when there is little to remember.
    private var weight = 0.0

    init(at time: Duration, count: UInt64 = 0) {
        last = time
        self.count = count
    }

    var value: Double { weight > 0 ? sum / weight : 0 }

    mutating func note(_ count: UInt64, at time: Duration) {
        let span = (time - last) / .seconds(1)
        if span < TransferRate.shortest { return }
        let fade = exp(-span / TransferRate.memory)
        let rate = Double(count > self.count ? count - self.count : 0) / span
        sum = sum * fade + rate * (1 - fade)
        weight = weight * fade + (1 - fade)
        last = time
        self.count = count
    }
}
