package import MultipeerFraming

// MARK: channels

extension SessionDriver {
    /// Opens a channel; waits while the peer has as many open as it takes.
    package func open(_ opening: ChannelOpening, to uid: UID) async throws(ChannelFault) -> ChannelSender {
        throw .notLinked
    }
}
