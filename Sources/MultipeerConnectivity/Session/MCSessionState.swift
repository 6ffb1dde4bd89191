/// The state of a peer in a session.
public enum MCSessionState: Int, Sendable {
    /// The peer is not, or no longer, in the session.
    case notConnected = 0
    /// The peer is connecting to the session.
    case connecting = 1
    /// The peer is in the session: messages to it are accepted, from inside the delegate call on.
    case connected = 2
}
