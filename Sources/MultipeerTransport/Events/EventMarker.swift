package import MultipeerCore

/// A position in the order of the events that only the session's owner receives: at a marker, it has taken everything that
/// happened before.
package enum EventMarker: Sendable {
    /// An attempt to link with this peer failed, and no event says so.
    case attemptFailed(PeerID)
    /// A call of `disconnect` is done: later events are of the next instance.
    case left
    /// A caller waits until the owner gets here.
    case reached(Promise<Void>)
}
