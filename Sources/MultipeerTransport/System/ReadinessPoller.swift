/// Finds the descriptors of a loop that are ready. On the loop's thread alone.
///
/// `Poller` is the type that was chosen when the package was compiled. A loop calls its functions without dispatch; with the
/// protocol, the compiler checks that each runtime has all of them.
package protocol ReadinessPoller: ~Copyable {
    associatedtype Waker: ThreadWaker

    init() throws(SocketFault)

    /// Watches a descriptor, which is removed before it is closed; `key` is returned with each of its events. Throws EEXIST for
    /// one that is watched, EBADF for one that is not open.
    func add(_ descriptor: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault)

    /// Watches for wakes. An event takes all that came before it.
    func add(_ waker: Waker, key: UInt64) throws(SocketFault)

    /// Throws ENOENT for a descriptor that is not watched.
    func change(_ descriptor: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault)

    /// Throws ENOENT for a descriptor that is not watched.
    func remove(_ descriptor: Int32) throws(SocketFault)

    /// Waits for events and returns how many there are: a descriptor that remains ready has one again, except for a waker. A
    /// hang-up is an event, whatever the interest. A negative time waits without limit.
    func wait(milliseconds: Int32) -> Int

    /// Waits at most for this long, which is less than a second. Events may end it sooner, and are taken by the next `wait`.
    func waitBriefly(nanoseconds: Int)

    /// One of the events that the last `wait` has found.
    subscript(index: Int) -> (key: UInt64, readiness: Readiness) { get }
}
