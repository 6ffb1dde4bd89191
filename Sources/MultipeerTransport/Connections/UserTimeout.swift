package import MultipeerCore

/// When TCP gives up a link's connection, and how often it tries until then.
///
/// Linux never waits longer for the next repetition than until it would give up. While a PING has no answer, that time is therefore
/// always set a second or so ahead, and moved on every half second or oftener: TCP repeats at that rate and does not give up. Where the
/// kernel limits its back-off itself, only the last seconds before the link ends need this. Where the option has no such effect, it
/// does no harm. Pure.
package struct UserTimeout: Equatable, Sendable {
    /// What applies otherwise.
    package let usual: Duration
    /// A moment at which TCP had repeated nothing that is now in flight.
    private var start: Moment?
    private var isChanged = false

    package init(_ usual: Duration) { self.usual = usual }

    /// Returns the timeout to set, if it changes. Called at once when a PING is sent, and then every half second or oftener while
    /// there is no answer. `isLimited`: the kernel limits its back-off.
    package mutating func next(
        _ state: TransmissionState, since: Moment, until: Moment, isLimited: Bool, at now: Moment
    ) -> Duration? {
        guard let known = start else {
            start =
                state.repetitions == 0
                ? now : min(since, now + (.zero - elapsed(state, isLimited: isLimited)))
            return nil
        }
        guard state.isWaiting else {
            // The peer reads nothing. TCP counts from its first question for room, and has nothing to repeat.
            self.start = now
            defer { isChanged = false }
            return isChanged ? usual : nil
        }
        // Both are no later than the first repetition, from which TCP counts. The other one would wait that much longer.
        let start =
            state.repetitions == 0
            ? now : max(known, now + (.zero - elapsed(state, isLimited: isLimited) - UserTimeout.resolution))
        self.start = start
        let least = max(UserTimeout.least, state.roundTrip * 2)
        let ahead = max(least, min(UserTimeout.most, (until - now) / 3))
        if isLimited, ahead > Socket.backOff {
            defer { isChanged = false }
            return isChanged ? usual : nil
        }
        isChanged = true
        return now - start + ahead
    }

    /// Returns the timeout to set when something is received again, if it changes.
    package mutating func reset() -> Duration? {
        start = nil
        defer { isChanged = false }
        return isChanged ? usual : nil
    }

    /// Returns the time since the first repetition, at most: each of the others waited twice as long as the one before, or, where that
    /// is limited, as long as the last.
    private func elapsed(_ state: TransmissionState, isLimited: Bool) -> Duration {
        let isDoubled = state.isBackingOff && !isLimited
        let others = state.repetitions - 1
        return state.sinceSent + state.timeout * (isDoubled ? min(1, others) : others)
    }

    private static let least = Duration.milliseconds(400)
    private static let most = Duration.milliseconds(1_500)
    /// The precision of the kernel's times.
    private static let resolution = Duration.milliseconds(20)
}
