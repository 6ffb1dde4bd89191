package import MultipeerCore

/// Something the session's owner hears in the order of the events, which are not told of it: at a marker, it has taken
/// everything that happened before.
package enum EventMarker: Sendable {
    /// An attempt to link with this peer came to nothing, and no event says so.
    case attemptFailed(PeerID)
    /// A call of `disconnect` is done: what comes after this is of the next instance.
    case left
    /// Somebody waits for the owner to get here.
    case reached(Promise<Void>)
}
