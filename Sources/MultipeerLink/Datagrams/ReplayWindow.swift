/// Which of the last 64 sequence numbers were already received. Spec 10.5.
///
/// Numbers count modulo 2³²: of two, the one that is ahead by less than half the range is the newer.
struct ReplayWindow: Equatable, Sendable {
    enum Verdict: Equatable, Sendable {
        /// Ahead of all previous ones.
        case newest
        /// Late, but the first with its number.
        case late
        /// A duplicate, or too old to decide.
        case repeated
    }

    static let size = 64

    private var highest: UInt32?
    /// Bit n: the number n below the highest was received.
    private var seen: UInt64 = 0

    mutating func take(_ sequence: UInt32) -> Verdict {
        guard let highest else {
            self.highest = sequence
            seen = 1
            return .newest
        }
        let step = Int(Int32(bitPattern: sequence &- highest))
        if step > 0 {
            self.highest = sequence
            seen = step < Self.size ? seen << UInt64(step) | 1 : 1
            return .newest
        }
        guard step > -Self.size else { return .repeated }  // [dgram.sequence]
        let bit = UInt64(1) << UInt64(-step)
        guard seen & bit == 0 else { return .repeated }  // [dgram.sequence]
        seen |= bit
        return .late
    }
}
