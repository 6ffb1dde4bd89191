/// How many control frames the sender of a link may still send. Spec 15.2.
struct ControlBudget {
    private var frames = FrameTokenBucket(size: 400, perSecond: 100)
    /// Bytes of traffic that have not earned a frame yet.
    private var traffic = 0

    /// Counts a control frame; returns false when none was left.
    mutating func take() -> Bool { frames.take() }

    /// Adds the control frames that traffic earns, in either direction.
    mutating func earn(_ frame: Frame) {
        traffic += frame.kind == .data ? frame.payload.count : Int(frame.cost)
        frames.add(traffic / 16_384)
        traffic %= 16_384
    }
}
