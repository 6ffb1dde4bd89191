package import MultipeerFraming

/// An event of a channel. Channels that the peer opened and our own are numbered separately. Spec 9.
package enum ChannelEvent: Equatable, Sendable {
    // MARK: channels that the peer opened

    /// The owner calls `Link.consumed(cost)`, of message credit, when the application has taken the
    /// announcement.
    case opened(UInt32, ChannelOpening, cost: Int)
    /// The owner calls `Link.consumed(count, of:)` when the application has taken these bytes.
    case data(UInt32, [UInt8])
    /// BEGIN: the data of a resumable resource follow, from this offset on.
    case begins(UInt32, offset: UInt64)
    /// FIN: no more data follow. A stream has ended; a resource waits for `Link.done`.
    case finished(UInt32, digest: [UInt8]?)
    /// RESET: the channel has ended, and its bytes no longer count as held.
    case aborted(UInt32, CloseCode)

    // MARK: our own channels

    /// OPEN is written.
    case began(UInt32)
    /// RESUME: the owner calls `Link.begin(_:at:)`, with the offset or with 0.
    case resumes(UInt32, ResumeOffer)
    /// This many bytes are written, which complete this many of the pieces passed to `Link.write`.
    case wrote(UInt32, pieces: Int, bytes: Int)
    /// FIN is written: a stream has ended, a resource waits for `completed`.
    case ended(UInt32)
    /// STOP: the peer accepts no more data, and the channel has ended.
    case stopped(UInt32, CloseCode)
    /// DONE: the peer's result for a resource. The channel has ended.
    case completed(UInt32, CloseCode)
}
