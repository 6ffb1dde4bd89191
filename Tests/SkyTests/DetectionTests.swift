import Foundation
import TestSupport
import Testing

@testable import sky

@Suite("Sky: stars of a tile", .computing)
struct DetectionTests {
    /// Noise, and stars of that brightness at those places.
    private func tile(_ stars: [(x: Int, y: Int)], peak: Int = 120, size: Int = 96) -> Tile {
        var dice = Dice(state: 7)
        var light = (0..<size * size).map { _ in 40 + dice.noise() }
        for star in stars {
            for y in max(0, star.y - 6)...min(size - 1, star.y + 6) {
                for x in max(0, star.x - 6)...min(size - 1, star.x + 6) {
                    let spread = 4 + (x - star.x) * (x - star.x) + (y - star.y) * (y - star.y)
                    light[y * size + x] += peak * 16 / (spread * spread)
                }
            }
        }
        return Tile(number: 3, size: size, pixels: light.map { UInt8(clamping: $0) })
    }

    @Test(
        "separate stars are found at their positions, bright ones and faint ones",
        arguments: [40, 120, 200])
    func places(_ peak: Int) {
        let places = [(12, 10), (50, 12), (80, 40), (20, 70), (60, 80)]
        let found = Detection.findings(on: tile(places.map { (x: $0.0, y: $0.1) }, peak: peak))
        #expect(found.tile == 3)
        #expect(found.stars.count == places.count)
        for (x, y) in places {
            #expect(
                found.stars.contains { abs($0.x - x) <= 1 && abs($0.y - y) <= 1 && $0.light > peak },
                "\(x) \(y)")
        }
    }

    @Test("an empty sky, a bright one and one of pure noise have no stars")
    func none() {
        for level: UInt8 in [0, 128, 255] {
            let even = Tile(number: 0, size: 32, pixels: [UInt8](repeating: level, count: 1_024))
            #expect(Detection.findings(on: even).stars.isEmpty)
        }
        #expect(Detection.findings(on: tile([])).stars.isEmpty)
    }

    @Test("stars at the edges and in the corners are found")
    func edges() {
        let found = Detection.findings(on: tile([(x: 0, y: 0), (x: 95, y: 50), (x: 40, y: 95)]))
        #expect(found.stars.count == 3)
    }

    @Test("two stars at one position are one")
    func together() {
        #expect(Detection.findings(on: tile([(x: 40, y: 40), (x: 42, y: 41)])).stars.count == 1)
    }

    @Test("a seed and a number always make the same tile, and others make another one")
    func seeds() {
        let field = StarField(seed: 5, size: 64)
        #expect(field.tile(9) == field.tile(9))
        #expect(field.tile(9).pixels != field.tile(10).pixels)
        #expect(field.tile(9).pixels != StarField(seed: 6, size: 64).tile(9).pixels)
    }

    @Test("the sky is the same on every machine: these are its first stars")
    func known() {
        let stars = (0..<4).map { Detection.findings(on: StarField(seed: 1, size: 64).tile($0)).stars.count }
        #expect(stars == [3, 1, 3, 1])
    }

    @Test("a tile that is not square, or too large, is not decoded")
    func square() throws {
        func decode(_ size: Int, _ count: Int) throws -> Tile {
            try JSONDecoder().decode(
                Tile.self,
                from: JSONEncoder().encode(
                    Claimed(number: 1, size: size, pixels: [UInt8](repeating: 9, count: count))))
        }
        #expect(try decode(16, 256).size == 16)
        for (size, count) in [(16, 255), (16, 0), (-16, 256), (8, 64), (1_001, 16), (Int.max, 16)] {
            #expect(throws: DecodingError.self) { try decode(size, count) }
        }
    }

    @Test("a task with too long an exposure is not decoded")
    func exposure() throws {
        let tile = tile([], size: 16)
        for (exposure, isTaken) in [(0, true), (60_000, true), (60_001, false), (-1, false)] {
            let task = ScanTask(tile: tile, exposure: exposure, isCloudy: false)
            let decoded = Result { try JSONDecoder().decode(ScanTask.self, from: JSONEncoder().encode(task)) }
            #expect(((try? decoded.get()) != nil) == isTaken, "\(exposure)")
        }
    }

    /// What a peer claims to be a tile.
    private struct Claimed: Encodable {
        let number: Int
        let size: Int
        let pixels: [UInt8]
    }
}
