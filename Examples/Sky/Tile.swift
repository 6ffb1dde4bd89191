/// A square of the sky as a camera took it: one byte for each pixel, row by row.
struct Tile: Hashable, Sendable, Codable {
    /// How many pixels a side may have: so a tile fits into a call, which has 1 MiB at the most.
    static let sides = 16...1_000

    let number: Int
    /// Pixels a side.
    let size: Int
    let pixels: [UInt8]

    init(number: Int, size: Int, pixels: [UInt8]) {
        precondition(Tile.sides.contains(size) && pixels.count == size * size, "a tile is a square")
        (self.number, self.size, self.pixels) = (number, size, pixels)
    }

    private enum CodingKeys: String, CodingKey { case number, size, pixels }

    /// A tile comes from whoever is nearby: what is no square is refused before anybody scans it.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        size = try container.decode(Int.self, forKey: .size)
        pixels = try container.decode([UInt8].self, forKey: .pixels)
        guard Tile.sides.contains(size), pixels.count == size * size else {
            throw DecodingError.dataCorruptedError(
                forKey: .pixels, in: container, debugDescription: "\(pixels.count) pixels are no square")
        }
    }
}

/// A star that was found: where it is brightest, and how much light it gives in all.
struct Star: Hashable, Sendable, Codable {
    let x: Int
    let y: Int
    let light: Int
}

/// What was found on one tile.
struct Findings: Hashable, Sendable, Codable {
    let tile: Int
    let stars: [Star]
}

/// One tile to be scanned, and how.
struct ScanTask: Sendable, Codable {
    /// Milliseconds that an exposure may take.
    static let exposures = 0...60_000

    let tile: Tile
    /// How long to wait for the light before it is scanned, in milliseconds.
    let exposure: Int
    /// There is nothing to be seen through clouds: this scan fails.
    let isCloudy: Bool

    init(tile: Tile, exposure: Int, isCloudy: Bool) {
        (self.tile, self.exposure, self.isCloudy) = (tile, exposure, isCloudy)
    }

    private enum CodingKeys: String, CodingKey { case tile, exposure, isCloudy }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tile = try container.decode(Tile.self, forKey: .tile)
        exposure = try container.decode(Int.self, forKey: .exposure)
        isCloudy = try container.decode(Bool.self, forKey: .isCloudy)
        guard ScanTask.exposures.contains(exposure) else {
            throw DecodingError.dataCorruptedError(
                forKey: .exposure, in: container, debugDescription: "nobody waits \(exposure) ms")
        }
    }
}

/// Why a scan failed: the error crosses from one process to another as what it is.
struct Clouds: Error, Hashable, Codable, CustomStringConvertible {
    let tile: Int

    var description: String { "there are clouds before tile \(tile)" }
}
