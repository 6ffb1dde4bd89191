/// Counters of one link since it began.
public struct LinkStatistics: Hashable, Sendable {
    /// Messages whose last byte was passed to the connection.
    public internal(set) var messagesSent = 0
    /// Bytes of those messages.
    public internal(set) var bytesSent = 0
    /// Messages received completely.
    public internal(set) var messagesReceived = 0
    /// Bytes of those messages.
    public internal(set) var bytesReceived = 0
    /// Bytes of streams and files passed to the connection.
    public package(set) var channelBytesSent = 0
    /// Bytes of streams and files received, including those that were no longer wanted.
    public package(set) var channelBytesReceived = 0
    /// Frames skipped because this version does not know their kind.
    public internal(set) var ignoredFrames = 0
    /// The round-trip time, once it was measured.
    public internal(set) var roundTrip: RoundTrip?
}

extension LinkStatistics {
    mutating func add(_ latest: Duration) {
        if roundTrip == nil {
            roundTrip = RoundTrip(latest)
        } else {
            roundTrip?.add(latest)
        }
    }

    /// Round-trip times, from a PING being written to its PONG being read.
    public struct RoundTrip: Hashable, Sendable {
        /// The latest.
        public internal(set) var last: Duration
        /// The shortest.
        public internal(set) var shortest: Duration
        /// The average in which every new one counts an eighth.
        public internal(set) var smoothed: Duration

        init(_ first: Duration) {
            last = first
            shortest = first
            smoothed = first
        }

        mutating func add(_ new: Duration) {
            last = new
            shortest = min(shortest, new)
            smoothed += (new - smoothed) / 8
        }
    }
}
