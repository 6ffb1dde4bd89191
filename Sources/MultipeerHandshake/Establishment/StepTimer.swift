package import MultipeerCore

/// How long a connection that is being made may take for its next step, which each step allows anew.
///
/// A step is a flight of the other end that answers one of ours: TCP, TLS, a frame. A byte is none: who sends one at a time
/// gains nothing. A fixed time for all steps together would end every connection to a peer that is far away; the time of one
/// step is four round trips, as soon as one was measured, at least 5 s and at most 15 s. [link.timeouts] [invite.deadline]
package struct StepTimer: Sendable {
    /// When the next step must have come.
    package private(set) var deadline: Moment
    /// From the first step that takes one: a dial's TCP, or the TLS of an accepted connection.
    package private(set) var roundTrip = Duration.zero
    private let began: Moment
    private let end: Moment

    package static func dialled(at now: Moment) -> StepTimer { StepTimer(now, until: .distantFuture) }

    /// An accepted connection is unauthenticated: it may hold its place for a limited time. [limit.unauthenticated]
    package static func accepted(at now: Moment) -> StepTimer {
        StepTimer(now, until: now + HandshakeTiming.unproven)
    }

    private init(_ now: Moment, until end: Moment) {
        began = now
        self.end = end
        deadline = now + HandshakeTiming.greeting
    }

    /// The time for one step.
    package var step: Duration { limit(atLeast: HandshakeTiming.greeting) }

    /// Returns the time for an answer that usually takes less than `time`.
    package func limit(atLeast time: Duration) -> Duration {
        max(time, min(roundTrip * 4, HandshakeTiming.unproven))
    }

    /// Handles a step.
    package mutating func moved(at now: Moment) {
        if roundTrip == .zero { roundTrip = now - began }
        deadline = min(now + step, end)
    }
}
