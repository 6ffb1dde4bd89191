/// What the system knows of the way of the data of a connection.
package struct TransmissionState: Equatable, Sendable {
    /// The data of the largest packet, in bytes.
    package var segment = 0
    /// What precedes that in the packet, after the headers without options.
    package var optionBytes = 0
    /// Whether data is in flight or lost.
    package var isWaiting = false
    /// How often the first byte in flight was repeated.
    package var repetitions = 0
    /// Whether the time between two repetitions grows.
    package var isBackingOff = false
    /// The time until the next repetition, counted from the last one.
    package var timeout = Duration.zero
    /// The time since data was last sent or repeated.
    package var sinceSent = Duration.zero
    /// The time since the last acknowledgement.
    package var sinceAcknowledgement = Duration.zero
    /// The round-trip time.
    package var roundTrip = Duration.zero
    /// The number of acknowledged bytes; at the end that dialled it includes one for the connection itself.
    package var acknowledged: UInt64 = 0
    /// The number of bytes received in order.
    package var received: UInt64 = 0
    /// Whether anything was ever repeated, the first packet included.
    package var hasRepeated = false
    /// How many bytes a second arrived lately; 0 when that is not known.
    package var rate: UInt64 = 0
    /// Whether more might have arrived: there was too little to send.
    package var isRateLow = false

    /// Creates the state of a connection on which nothing was sent.
    package init() {}
}

extension Socket {
    /// Nil for a simulated socket, and where the system does not report it.
    borrowing func transmission() -> TransmissionState? {
        isSimulated ? nil : SocketOptions.transmission(descriptor)
    }
}
