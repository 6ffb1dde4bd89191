package import MultipeerFraming
package import MultipeerMesh

/// Why a channel came to nothing, as its writer or its reader sees it.
package enum ChannelFault: Error, Equatable, Sendable {
    /// There is no link to the peer.
    case notLinked
    /// The name or the metadata is not what an OPEN can carry.
    case invalid(String)
    /// The receiver wants no more of it: its STOP, or its DONE when that is not OK. To a reader: its own session gave
    /// it up.
    case stopped(CloseCode)
    /// The opener gave it up.
    case reset(CloseCode)
    /// The link is over.
    case ended(DisconnectReason)
    /// The task that waited was cancelled, or this side gave the channel up.
    case cancelled
    /// This side has finished it: nothing more can be written.
    case finished
    /// Another task waits for what comes: one at a time can read.
    case inUse
}
