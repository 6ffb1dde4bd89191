/// A client of an `EventLoop`: usually an actor pinned to the loop, which enters itself with `assumeIsolated`.
///
/// Every method is called on the loop's thread. A method may register, deregister, set deadlines and wake at will.
package protocol LoopClient: AnyObject, Sendable {
    /// One for each client, made with it: `nonisolated let wakeup = Wakeup()`.
    nonisolated var wakeup: Wakeup { get }

    /// A registered descriptor can be read, written, or has failed.
    nonisolated func ready(_ token: Int, _ readiness: Readiness)
    /// The deadline that the client set has come, and was removed: a client that needs another sets it.
    nonisolated func deadlineReached()
    /// `EventLoop.wake` was called since the last time.
    nonisolated func wokenUp()
    /// At the end of a turn in which the client had any of the calls above or asked for this; also between many jobs.
    nonisolated func turnEnded()
}

/// The readiness for which a descriptor is watched, or that was found.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// An error or a hang-up. Always reported, and again every turn until the descriptor is deregistered; bytes that arrived
    /// before may still be readable.
    package static let failed = Readiness(rawValue: 4)
}
