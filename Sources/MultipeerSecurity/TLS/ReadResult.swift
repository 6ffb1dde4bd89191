extension SecureChannel {
    /// What a read brought.
    package enum ReadResult: Equatable, Sendable {
        /// So many bytes were appended; there may be more.
        case bytes(Int)
        /// Nothing more until more has been received.
        case needsInput
        /// The other side said that it sends no more (close_notify).
        case closed
    }

    /// Who speaks first: the dialler is the client.
    package enum Role: Sendable { case client, server }
}
