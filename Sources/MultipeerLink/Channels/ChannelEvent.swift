package import MultipeerFraming

/// What happened to a channel. The numbers of channels that the peer opened and of our own do not mix. Spec 9.
package enum ChannelEvent: Equatable, Sendable {
    // MARK: channels that the peer opened

    /// `Link.consumed(cost)` is due, of message credit, when the application has taken the announcement.
    case opened(UInt32, ChannelOpening, cost: Int)
    /// `Link.consumed(count, of:)` is due when these bytes are taken.
    case data(UInt32, [UInt8])
    /// FIN: there is no more. A stream is over; a resource waits for `Link.done`.
    case finished(UInt32, digest: [UInt8]?)
    /// RESET: the channel is over, and nothing of it counts as held any more.
    case aborted(UInt32, CloseCode)

    // MARK: our own channels

    /// OPEN is written.
    case began(UInt32)
    /// So many bytes are written, and with them so many whole pieces of those that `Link.write` got.
    case wrote(UInt32, pieces: Int, bytes: Int)
    /// FIN is written: a stream is over, a resource waits for `completed`.
    case ended(UInt32)
    /// STOP: the peer takes no more, and the channel is over.
    case stopped(UInt32, CloseCode)
    /// DONE: what the peer made of a resource. The channel is over.
    case completed(UInt32, CloseCode)
}
