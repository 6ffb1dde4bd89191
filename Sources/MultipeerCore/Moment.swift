/// An instant of the monotonic clock. The state machines receive it as input; they never read a clock.
@usableFromInline
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's unspecified origin.
    @usableFromInline package let nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static var distantFuture: Moment { Moment(nanoseconds: .max) }

    @inlinable package static func < (one: Moment, other: Moment) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// Returns the earlier of two deadlines; nil when both are nil.
    @inlinable package static func earlier(_ one: Moment?, _ other: Moment?) -> Moment? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Saturates, so that no duration from a caller or a peer can trap.
    @inlinable package static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return overflow ? .distantFuture : Moment(nanoseconds: sum)
    }

    @inlinable package static func - (moment: Moment, earlier: Moment) -> Duration {
        .nanoseconds(moment.nanoseconds &- earlier.nanoseconds)
    }
}

extension Duration {
    /// The duration in nanoseconds, at most about 292 years.
    @inlinable package var wholeNanoseconds: Int64 {
        // Up to nine seconds, one division does: the standard library computes the components with 128 bits.
        if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, tooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}
