/// What is to be scanned, with whom, and what goes wrong on purpose.
struct Plan: Sendable {
    /// How many others are waited for.
    var people = 0
    var tiles = 96
    /// Pixels a side.
    var size = 256
    var seed: UInt64 = 1
    /// Milliseconds that each tile waits for its light.
    var exposure = 100
    /// So many tiles, spread over all, fail the first time.
    var failures = 0
    /// A worker is killed once so many tiles are counted.
    var killsAfter: Int?
    /// How long all of it may take.
    var patience = Duration.seconds(120)

    /// How long a scan may take: whoever needs longer has failed.
    var timeout: Duration { .milliseconds(exposure) + .seconds(60) }

    func task(for tile: Int, attempt: Int) -> ScanTask {
        ScanTask(
            tile: StarField(seed: seed, size: size).tile(tile), exposure: exposure,
            isCloudy: attempt == 1 && isCloudy(tile))
    }

    func isCloudy(_ tile: Int) -> Bool { tile * failures % tiles < failures }
}
