import Foundation

/// A square of the sky, one byte for each pixel.
struct Tile: Codable, Sendable {
    let number: Int
    let size: Int
    let pixels: [UInt8]
}

/// Returns a picture of an invented sky: the same number gives the same tile.
func photograph(_ number: Int, size: Int = 128) -> Tile {
    var state = UInt64(number) &+ 1
    func chance(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
    var pixels = (0..<size * size).map { _ in UInt8(20 + chance(20)) }
    for _ in 0...chance(20) {
        let corner = chance(size - 3) * size + chance(size - 3)
        for row in 0..<3 { for column in 0..<3 { pixels[corner + row * size + column] = 200 } }
    }
    return Tile(number: number, size: size, pixels: pixels)
}

/// Counts groups of connected bright pixels.
func countStars(on tile: Tile) -> Int {
    var isBright = tile.pixels.map { $0 > 100 }
    var count = 0
    for first in isBright.indices where isBright[first] {
        count += 1
        var island = [first]
        while let pixel = island.popLast() {
            guard isBright[pixel] else { continue }
            isBright[pixel] = false
            for next in [pixel - 1, pixel + 1, pixel - tile.size, pixel + tile.size]
            where isBright.indices.contains(next) { island.append(next) }
        }
    }
    return count
}

print(countStars(on: photograph(1)))
