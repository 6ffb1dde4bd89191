import CPlatform
import MultipeerPlatform

/// Finds the descriptors that are ready with `poll`, which every system with POSIX has. On the loop's thread alone.
///
/// Each wait costs time in proportion to the number of descriptors: a session has about one for each peer.
package final class PollPoller: ReadinessPoller {
    private var watched: [pollfd] = []
    /// The keys of those that are watched, at the same places.
    private var keys: [UInt64] = []
    /// The place of each descriptor; -1 for those that are not watched.
    private var places: [Int] = []
    private var found: [(key: UInt64, readiness: Readiness)] = []
    private var waker: PipeWaker?

    package init() throws(SocketFault) {}

    package func add(_ descriptor: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        guard fcntl(descriptor, F_GETFD) >= 0 else { throw .last }
        guard place(of: descriptor) == nil else { throw .other(EEXIST) }
        let index = Int(descriptor)
        while places.count <= index { places.append(-1) }
        places[index] = watched.count
        watched.append(pollfd(fd: descriptor, events: interest.pollEvents, revents: 0))
        keys.append(key)
    }

    /// Drains the pipe at each of its events.
    package func add(_ waker: PipeWaker, key: UInt64) throws(SocketFault) {
        try add(waker.descriptor, .readable, key: key)
        self.waker = waker
    }

    package func change(_ descriptor: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        guard let place = place(of: descriptor) else { throw .other(ENOENT) }
        watched[place].events = interest.pollEvents
        keys[place] = key
    }

    package func remove(_ descriptor: Int32) throws(SocketFault) {
        guard let place = place(of: descriptor) else { throw .other(ENOENT) }
        let last = watched.count - 1
        watched.swapAt(place, last)
        keys.swapAt(place, last)
        places[Int(PollPoller.number(watched[place]))] = place
        places[Int(descriptor)] = -1
        watched.removeLast()
        keys.removeLast()
    }

    package func wait(milliseconds: Int32) -> Int {
        found.removeAll(keepingCapacity: true)
        let count = unsafe poll(&watched, nfds_t(watched.count), milliseconds)
        // The system is short of memory, or the limit of descriptors was lowered below their number: that may pass.
        if count < 0, errno != EINTR { waitBriefly(nanoseconds: 1_000_000) }
        guard count > 0 else { return 0 }
        for place in watched.indices where watched[place].revents != 0 { take(place) }
        return found.count
    }

    /// Waits for this long: systems have no call in common that waits for events for less than a millisecond.
    package func waitBriefly(nanoseconds: Int) { multipeer_portable_pause(nanoseconds) }

    package subscript(index: Int) -> (key: UInt64, readiness: Readiness) { found[index] }

    private func take(_ place: Int) {
        let entry = watched[place]
        // A descriptor that was closed first is no longer watched: a negative one is skipped.
        if entry.revents & Int16(POLLNVAL) != 0 {
            watched[place].fd = ~entry.fd
            return
        }
        if let waker, waker.descriptor == entry.fd { waker.drain() }
        found.append((keys[place], Readiness(pollEvents: entry.revents)))
    }

    private static func number(_ entry: pollfd) -> Int32 { entry.fd < 0 ? ~entry.fd : entry.fd }

    private func place(of descriptor: Int32) -> Int? {
        let index = Int(descriptor)
        guard places.indices.contains(index), places[index] >= 0 else { return nil }
        return places[index]
    }
}

extension Readiness {
    fileprivate init(pollEvents events: Int16) {
        self = []
        if events & Int16(POLLIN) != 0 { insert(.readable) }
        if events & Int16(POLLOUT) != 0 { insert(.writable) }
        if events & Int16(POLLERR | POLLHUP) != 0 { insert(.failed) }
    }

    fileprivate var pollEvents: Int16 {
        (contains(.readable) ? Int16(POLLIN) : 0) | (contains(.writable) ? Int16(POLLOUT) : 0)
    }
}
