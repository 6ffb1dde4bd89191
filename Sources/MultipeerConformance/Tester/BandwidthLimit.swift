/// How much of a line that carries so many bytes a second may be read now.
struct BandwidthLimit {
    let bytesPerSecond: Double
    private var spent = 0.0
    private var begun = ContinuousClock.now

    init(bytesPerSecond: Double) { self.bytesPerSecond = bytesPerSecond }

    private var carried: Double { (ContinuousClock.now - begun) / .seconds(1) * bytesPerSecond }

    /// A line keeps nothing of the time in which nobody used it but some 2 ms.
    private var burst: Double { bytesPerSecond / 500 }

    var room: Int { max(0, Int(min(carried - spent, burst))) }

    mutating func spend(_ count: Int) { spent = max(spent, carried - burst) + Double(count) }
}
