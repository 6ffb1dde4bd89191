/// Finds the stars of a tile, as astronomers do: a filter in the shape of a star, a threshold above the noise, and
/// connected pixels are one star. It uses integers, so that all observatories find the same.
struct Detection {
    /// The threshold above the noise, in standard deviations.
    private static let threshold = 5
    /// The minimum number of pixels of a star.
    private static let fewestPixels = 3

    private let tile: Tile
    private let background: Background
    /// How much the surroundings of each pixel resemble a star, and the minimum of that for a star.
    private let likeness: [Int]

    static func findings(on tile: Tile) -> Findings {
        Findings(tile: tile.number, stars: Detection(tile).stars())
    }

    private init(_ tile: Tile) {
        self.tile = tile
        background = Background(tile.pixels)
        likeness = Pattern.star.likeness(of: tile, above: background.level)
    }

    private func stars() -> [Star] {
        let limit = Detection.threshold * Detection.threshold * background.variance * Pattern.star.power
        var isStar = likeness.map { $0 > 0 && $0 * $0 > limit }
        var stars: [Star] = []
        for pixel in isStar.indices where isStar[pixel] {
            let island = takeIsland(around: pixel, from: &isStar)
            if island.count >= Detection.fewestPixels { stars.append(star(of: island)) }
        }
        return stars
    }

    /// Removes and returns all pixels that are connected with this one, also over corners.
    private func takeIsland(around first: Int, from isStar: inout [Bool]) -> [Int] {
        isStar[first] = false
        var island = [first]
        var seen = 0
        while seen < island.count {
            let (y, x) = island[seen].quotientAndRemainder(dividingBy: tile.size)
            seen += 1
            for row in max(0, y - 1)...min(tile.size - 1, y + 1) {
                for column in max(0, x - 1)...min(tile.size - 1, x + 1) {
                    let pixel = row * tile.size + column
                    guard isStar[pixel] else { continue }
                    isStar[pixel] = false
                    island.append(pixel)
                }
            }
        }
        return island
    }

    private func star(of island: [Int]) -> Star {
        let peak = island.reduce(island[0]) { likeness[$1] > likeness[$0] ? $1 : $0 }
        let light = island.reduce(0) { $0 + Int(tile.pixels[$1]) - background.level }
        return Star(x: peak % tile.size, y: peak / tile.size, light: light)
    }
}

/// The sky without stars: its brightness, and its variation from pixel to pixel.
private struct Background {
    /// The median, since stars are few.
    let level: Int
    /// The mean square of the differences on the darker side, where there are no stars.
    let variance: Int

    init(_ pixels: [UInt8]) {
        var histogram = [Int](repeating: 0, count: 256)
        for pixel in pixels { histogram[Int(pixel)] += 1 }
        var (level, below) = (0, histogram[0])
        while below * 2 < pixels.count {
            level += 1
            below += histogram[level]
        }
        let squares = (0...level).reduce(0) { $0 + histogram[$1] * (level - $1) * (level - $1) }
        self.level = level
        variance = max(1, squares / below)
    }
}

/// The shape to search for. Its weights add up to zero, so that an even background is no star.
private struct Pattern: Sendable {
    static let star = Pattern(reach: 4)

    private let reach: Int
    private let weights: [Int]
    /// The sum of the squared weights: the factor by which the filter raises the variance.
    let power: Int

    private init(reach: Int) {
        self.reach = reach
        let profile = (-reach...reach).flatMap { y in
            (-reach...reach).map { x in 1_600 / ((4 + x * x + y * y) * (4 + x * x + y * y)) }
        }
        let sum = profile.reduce(0, +)
        weights = profile.map { $0 * profile.count - sum }
        power = weights.reduce(0) { $0 + $1 * $1 }
    }

    func likeness(of tile: Tile, above level: Int) -> [Int] {
        let (side, width) = (2 * reach + 1, tile.size + 2 * reach)
        // With a margin of background, so that no pixel is at the edge.
        var light = [Int](repeating: 0, count: width * width)
        for y in 0..<tile.size {
            for x in 0..<tile.size {
                light[(y + reach) * width + x + reach] = Int(tile.pixels[y * tile.size + x]) - level
            }
        }
        var likeness = [Int](repeating: 0, count: tile.size * tile.size)
        for y in 0..<tile.size {
            for x in 0..<tile.size {
                var sum = 0
                for row in 0..<side {
                    let (start, weight) = ((y + row) * width + x, row * side)
                    for column in 0..<side { sum += light[start + column] * weights[weight + column] }
                }
                likeness[y * tile.size + x] = sum
            }
        }
        return likeness
    }
}
