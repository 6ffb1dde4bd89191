package import MultipeerFraming
package import MultipeerMesh

/// Why a channel failed, as its writer or its reader sees it.
package enum ChannelFault: Error, Equatable, Sendable {
    /// There is no link to the peer.
    case notLinked
    /// The name or the metadata does not fit into an OPEN.
    case invalid(String)
    /// The receiver stopped it: its STOP, or its DONE when that is not OK. For a reader: its own session gave it up.
    case stopped(CloseCode)
    /// The opener gave it up.
    case reset(CloseCode)
    /// The link has ended.
    case ended(DisconnectReason)
    /// The task that waited was cancelled, or this side gave the channel up.
    case cancelled
    /// This side has finished it: nothing more can be written.
    case finished
    /// Another task is already reading: only one may read at a time.
    case inUse
}
