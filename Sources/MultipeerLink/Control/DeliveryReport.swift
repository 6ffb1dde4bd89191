/// What TCP knows of the way of what was sent on a connection. Only the owner of its socket can find out.
package struct DeliveryReport: Equatable, Sendable {
    /// The number of bytes that were given to TCP, or wait for it, since the connection was made.
    package var written: UInt64
    /// How many of them the peer's system has acknowledged.
    package var acknowledged: UInt64
    /// The time since the last acknowledgement.
    package var sinceAcknowledgement: Duration
    /// How often the first byte that is not acknowledged was repeated.
    package var repetitions: Int
    /// The round-trip time as TCP has measured it.
    package var roundTrip: Duration

    package init(
        written: UInt64, acknowledged: UInt64, sinceAcknowledgement: Duration = .zero, repetitions: Int = 0,
        roundTrip: Duration = .zero
    ) {
        self.written = written
        self.acknowledged = acknowledged
        self.sinceAcknowledgement = sinceAcknowledgement
        self.repetitions = repetitions
        self.roundTrip = roundTrip
    }
}
