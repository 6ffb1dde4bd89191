/// How much may be read now of a connection that carries that many bytes a second.
struct BandwidthLimit {
    let bytesPerSecond: Double
    private var spent = 0.0
    private var begun = ContinuousClock.now

    init(bytesPerSecond: Double) { self.bytesPerSecond = bytesPerSecond }

    private var carried: Double { (ContinuousClock.now - begun) / .seconds(1) * bytesPerSecond }

    /// Idle time adds no more than some 2 ms of bytes.
    private var burst: Double { bytesPerSecond / 500 }

    var room: Int { max(0, Int(min(carried - spent, burst))) }

    mutating func spend(_ count: Int) { spent = max(spent, carried - burst) + Double(count) }
}
