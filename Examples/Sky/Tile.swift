/// A square of the sky in the form of a camera image: one byte for each pixel, row by row.
struct Tile: Hashable, Sendable, Codable {
    /// The valid numbers of pixels per side: with these, a tile fits into a call, which has at most 1 MiB.
    static let sides = 16...1_000

    let number: Int
    /// Pixels per side.
    let size: Int
    let pixels: [UInt8]

    init(number: Int, size: Int, pixels: [UInt8]) {
        precondition(Tile.sides.contains(size) && pixels.count == size * size, "a tile is a square")
        (self.number, self.size, self.pixels) = (number, size, pixels)
    }

    private enum CodingKeys: String, CodingKey { case number, size, pixels }

    /// Decodes a tile, which may come from any peer nearby: one that is not a square is refused before it is scanned.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        size = try container.decode(Int.self, forKey: .size)
        pixels = try container.decode([UInt8].self, forKey: .pixels)
        guard Tile.sides.contains(size), pixels.count == size * size else {
            throw DecodingError.dataCorruptedError(
                forKey: .pixels, in: container,
                debugDescription: "\(pixels.count) pixels do not form a square")
        }
    }
}

/// A star that was found: its brightest pixel, and its total light.
struct Star: Hashable, Sendable, Codable {
    let x: Int
    let y: Int
    let light: Int
}

/// The findings on one tile.
struct Findings: Hashable, Sendable, Codable {
    let tile: Int
    let stars: [Star]
}

/// One tile to be scanned, and how.
struct ScanTask: Sendable, Codable {
    /// The valid exposures, in milliseconds.
    static let exposures = 0...60_000

    let tile: Tile
    /// The time to wait for the light before the scan, in milliseconds.
    let exposure: Int
    /// Whether there are clouds: then this scan fails.
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
                forKey: .exposure, in: container, debugDescription: "invalid exposure: \(exposure) ms")
        }
    }
}

/// The reason why a scan failed: the error keeps its type between processes.
struct Clouds: Error, Hashable, Codable, CustomStringConvertible {
    let tile: Int

    var description: String { "clouds cover tile \(tile)" }
}
