import Foundation

/// Where a player is. It is sent 30 times a second, in 12 bytes; a state that is lost is replaced by the next one.
struct PlayerState: Equatable, Sendable {
    /// The number of the state: of two, the later one has the higher number.
    var number: UInt32 = 0
    var x: Float = 0.5
    var y: Float = 0.5

    /// Returns the state of the next frame, on a circle around the middle.
    func advanced() -> PlayerState {
        let angle = Float(number) / 30
        return PlayerState(number: number + 1, x: 0.5 + 0.4 * cos(angle), y: 0.5 + 0.4 * sin(angle))
    }

    var data: Data {
        Data(
            [number, x.bitPattern, y.bitPattern].flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
            })
    }

    init() {}

    init(number: UInt32, x: Float, y: Float) { (self.number, self.x, self.y) = (number, x, y) }

    init?(_ data: Data) {
        guard data.count == 12 else { return nil }
        let words = (0..<3).map { index in
            data.dropFirst(4 * index).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        self.init(number: words[0], x: Float(bitPattern: words[1]), y: Float(bitPattern: words[2]))
    }
}
