/// How much an actor system holds at a time, of its own and of each peer's.
public struct ActorLimits: Hashable, Sendable {
    /// Calls of one peer that are executed at a time, 1 to 65,536; default 1,024. Further calls wait at the peer.
    public var calls = 1_024
    /// Bytes of the arguments of those calls, 64 KiB to 1 GiB; default 16 MiB. Together with their unread answers they may be
    /// twice as many: a further answer is replaced by `busy`.
    public var callBytes = 16 * 1_048_576
    /// Calls of one peer that are executed in addition when they are made within others: this many at each of eight depths, 1 to
    /// 65,536; default 64. At each depth they have the bytes of one `envelope`.
    public var nestedCalls = 64
    /// The longest arguments of one call, and the longest result, in bytes with what belongs to them: 1 KiB to 16 MiB, no more
    /// than `callBytes`; default 1 MiB, and never more than the session's `maximumMessageSize`. Send longer ones as a `ByteStream` or a
    /// `SentFile`.
    public var envelope = 1_048_576
    /// This side's calls that wait for an answer, or to be sent, 1 to 1,000,000; default 100,000. A further one throws `busy`.
    public var pending = 100_000
    /// Bytes of those that wait to be sent, 64 KiB to 1 GiB; default 64 MiB.
    public var pendingBytes = 64 * 1_048_576
    /// Streams and files for calls and answers in progress to one peer at a time, 1 to 1,024; default 32. Others wait,
    /// at most twice as many as calls of all depths, and a call whose answer they belong to counts as in progress until then, a
    /// stream with 256 KiB. The session's own limit, which the application's streams and files share, applies as well.
    public var streams = 32
    /// Actors that one peer may check in, 0 to 65,536; default 1,024. Further ones are not visible.
    public var checkIns = 1_024

    /// Creates the default limits.
    public init() {}

    /// Returns the first value that is outside its range; nil when there is none.
    var validationError: String? {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("calls", calls, 1...65_536), ("callBytes", callBytes, 65_536...1_073_741_824),
            ("envelope", envelope, 1_024...16 * 1_048_576), ("pending", pending, 1...1_000_000),
            ("pendingBytes", pendingBytes, 65_536...1_073_741_824), ("checkIns", checkIns, 0...65_536),
            ("streams", streams, 1...1_024), ("nestedCalls", nestedCalls, 1...65_536),
        ]
        for (name, value, range) in ranges where !range.contains(value) {
            return "\(name) is \(value), but must be \(range.lowerBound) to \(range.upperBound)"
        }
        return envelope <= callBytes ? nil : "an envelope cannot be longer than callBytes"
    }
}

extension ActorLimits {
    /// Returns the calls of one peer at all depths.
    var callsInAll: Int { calls + Envelope.Limit.depths * nestedCalls }
    private var bytesInAll: Int { callBytes + Envelope.Limit.depths * envelope }

    /// Returns whether one more call of that size may be in progress in addition to these, where `times` as much is accepted as was
    /// announced.
    func mayTake(_ size: Int, beside load: IncomingLoad, times: Int, isInner: Bool) -> Bool {
        let (calls, most) = isInner ? (load.all.calls, callsInAll) : (load.outer.calls, self.calls)
        return calls < times * most && mayGrow(load, by: size, times: times, isInner: isInner)
    }

    /// Returns whether a call in progress may have that many bytes more.
    func mayGrow(_ load: IncomingLoad, by size: Int, times: Int = 2, isInner: Bool) -> Bool {
        let (bytes, most) = isInner ? (load.all.bytes, bytesInAll) : (load.outer.bytes, callBytes)
        return bytes + size <= times * most
    }
}
