extension Session {
    /// How a message is sent.
    public enum Delivery: Hashable, Sendable {
        /// Whole, once, and in order, as long as the link lives.
        case reliable
        /// Whole and at most once, perhaps never, perhaps in another order: over UDP, where that gets through. A message of more than
        /// 1,150 bytes, and any message while UDP does not get through, is sent on the link instead.
        case unreliable
    }
}
