/// Whether a peer is in a session.
public enum MCSessionState: Int, Sendable {
    /// The peer is not in the session, or not any more.
    case notConnected = 0
    /// The peer is on its way into the session.
    case connecting = 1
    /// The peer is in the session: it can be sent to, from inside the delegate call on.
    case connected = 2
}
