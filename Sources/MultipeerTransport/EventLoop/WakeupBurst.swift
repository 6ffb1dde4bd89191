package import MultipeerCore

/// Whether other threads wake a loop again and again for small messages to one client. Then the loop looks for more of them by
/// itself for a moment: waking it for each few costs both threads more than the messages do.
///
/// The score rises with each turn that such messages alone began, soon after the turn before. It falls with each turn that had
/// other work: two peers that answer each other never wait for the loop.
package struct WakeupBurst {
    /// What a turn found.
    package struct Turn {
        /// The client that took small messages of other threads.
        let client: ObjectIdentifier?
        /// Whether there was anything else: events of sockets, jobs, or another client.
        let hasOtherWork: Bool
        /// Whether the loop had looked by itself, and was not woken.
        let looked: Bool

        package init(_ client: ObjectIdentifier?, hasOtherWork: Bool = false, looked: Bool = false) {
            self.client = client
            self.hasOtherWork = hasOtherWork
            self.looked = looked
        }
    }

    private static let enough = 8
    private static let most = 16
    private static let loss = 4
    private static let pause = Duration.microseconds(200)

    private var score = 0
    private var woken: ObjectIdentifier?
    private var last = Moment.distantFuture

    package init() {}

    /// The client for whose messages the loop looks by itself; nil while it waits to be woken.
    package var client: ObjectIdentifier? { score >= WakeupBurst.enough ? woken : nil }

    package mutating func note(_ turn: Turn, at now: Moment) {
        defer { last = now }
        if turn.hasOtherWork {
            score = max(0, score - WakeupBurst.loss)
        } else if let client = turn.client {
            let continues = client == woken && (turn.looked || now - last < WakeupBurst.pause)
            score = continues ? min(score + 1, WakeupBurst.most) : 1
            woken = client
        } else {
            score = 0
        }
    }
}
