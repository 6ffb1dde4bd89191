/// Mutates a valid transcript in one place, which a seed determines.
struct Mutator {
    var random: SplitMix64

    /// Applies a bit flip, an edit of a length, a duplication, a swap or a drop: one of them, rarely two.
    mutating func mutate(_ frames: [[UInt8]]) -> [[UInt8]] {
        var frames = frames
        repeat { change(&frames) } while Int.random(in: 0..<8, using: &random) == 0 && !frames.isEmpty
        return frames
    }

    private mutating func change(_ frames: inout [[UInt8]]) {
        guard let place = frames.indices.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3: flip(&frames[place])
        case 4: editLength(&frames[place])
        case 5: frames.insert(frames[place], at: place)
        case 6: frames.swapAt(place, frames.indices.randomElement(using: &random) ?? place)
        default: frames.remove(at: place)
        }
    }

    private mutating func flip(_ bytes: inout [UInt8]) {
        guard let place = bytes.indices.randomElement(using: &random) else { return }
        bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
    }

    /// Edits the length of the frame, or two bytes that may be the length of an entry.
    private mutating func editLength(_ bytes: inout [UInt8]) {
        guard bytes.count >= 8 else { return flip(&bytes) }
        let place = Bool.random(using: &random) ? 1 : Int.random(in: 0..<(bytes.count - 1), using: &random)
        let old = Int(bytes[place]) << 8 | Int(bytes[place + 1])
        let change = [-8, -1, 1, 2, 255, 0x7fff].randomElement(using: &random) ?? 1
        let new = old &+ change
        bytes[place] = UInt8(truncatingIfNeeded: new >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: new)
    }
}
