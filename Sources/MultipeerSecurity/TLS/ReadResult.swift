extension SecureChannel {
    /// The result of a read.
    package enum ReadResult: Equatable, Sendable {
        /// This many bytes were appended; there may be more.
        case bytes(Int)
        /// No more data until more bytes are received.
        case needsInput
        /// The other side announced that it sends no more (close_notify).
        case closed
    }

    /// Which end sends first: the dialler is the client.
    package enum Role: Sendable { case client, server }
}
