/// What to scan, with how many observatories, and which faults to inject.
struct Plan: Sendable {
    /// The number of other observatories to wait for.
    var people = 0
    var tiles = 96
    /// Pixels per side.
    var size = 256
    var seed: UInt64 = 1
    /// The milliseconds that each tile waits for its light.
    var exposure = 100
    /// The number of tiles, spread over all, that fail the first time.
    var failures = 0
    /// The number of counted tiles after which a worker is killed.
    var killsAfter: Int?
    /// The timeout of the whole survey.
    var timeLimit = Duration.seconds(120)

    /// The timeout of a scan: one that takes longer has failed.
    var timeout: Duration { .milliseconds(exposure) + .seconds(60) }

    func task(for tile: Int, attempt: Int) -> ScanTask {
        ScanTask(
            tile: StarField(seed: seed, size: size).tile(tile), exposure: exposure,
            isCloudy: attempt == 1 && isCloudy(tile))
    }

    func isCloudy(_ tile: Int) -> Bool { tile * failures % tiles < failures }
}
