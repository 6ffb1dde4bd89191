/// How a message is sent.
public enum MCSessionSendDataMode: Int, Sendable {
    /// Whole, once, and in the order in which it was sent, as long as the peer stays connected.
    case reliable = 0
    /// Whole and at most once, perhaps never, perhaps in another order; it does not wait for earlier messages.
    case unreliable = 1
}
