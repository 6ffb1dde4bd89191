extension SecureChannel {
    /// The result of a read.
    package enum ReadResult: Equatable, Sendable {
        /// This many bytes were appended; there may be more.
        case bytes(Int)
        /// The other side sent this TLS message, which carries no data; there may be more bytes after it.
        case message(PostHandshakeMessage)
        /// No more data until more bytes are received.
        case needsInput
        /// The other side announced that it sends no more (close_notify).
        case closed
    }

    /// A message of the TLS handshake protocol that a peer may send at any time after the handshake. Each one costs
    /// this side work, so the owner counts them. [tls.messages]
    package enum PostHandshakeMessage: Equatable, Sendable {
        /// The other side has changed its keys, and may have asked this side to change its own.
        case keyUpdate
        /// NewSessionTicket, which no peer of this protocol sends. [tls.no-resumption]
        case sessionTicket
    }

    /// Which end sends first: the dialler is the client.
    package enum Role: Sendable { case client, server }
}
