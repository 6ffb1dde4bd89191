import CPlatform
import MultipeerPlatform

/// One epoll instance with its event buffer. Safe: it owns the buffer, and only what the kernel filled is read.
@safe struct Poller: ~Copyable {
    private static let room = 256

    private let descriptor: Int32
    private let found: UnsafeMutableBufferPointer<epoll_event>

    init() throws(SocketFault) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .last }
        unsafe found = .allocate(capacity: Poller.room)
        unsafe found.initialize(repeating: epoll_event())
    }

    deinit {
        close(descriptor)
        unsafe found.deallocate()
    }

    /// Watches a descriptor; `key` is returned with each of its events.
    func add(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        try control(EPOLL_CTL_ADD, watched, interest.events, key)
    }

    /// Watches for rising edges only, so that the descriptor need not be read.
    func addEdge(_ watched: Int32, key: UInt64) throws(SocketFault) {
        try control(EPOLL_CTL_ADD, watched, EPOLLIN.rawValue | EPOLLET.rawValue, key)
    }

    func change(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        try control(EPOLL_CTL_MOD, watched, interest.events, key)
    }

    func remove(_ watched: Int32) throws(SocketFault) {
        try control(EPOLL_CTL_DEL, watched, 0, 0)
    }

    /// Waits for events and returns how many there are. A negative time waits without limit.
    func wait(milliseconds: Int32) -> Int {
        let count = unsafe epoll_wait(descriptor, found.baseAddress, Int32(Poller.room), milliseconds)
        if count >= 0 { return Int(count) }
        precondition(errno == EINTR, "the loop cannot wait: \(SocketFault.last)")
        return 0
    }

    /// Waits until there are events, at most for this long.
    func waitBriefly(nanoseconds: Int) { multipeer_wait_briefly(descriptor, nanoseconds) }

    subscript(index: Int) -> (key: UInt64, readiness: Readiness) {
        let event = unsafe found[index]
        return unsafe (event.data.u64, Readiness(events: event.events))
    }

    private func control(
        _ operation: Int32, _ watched: Int32, _ events: UInt32, _ key: UInt64
    ) throws(SocketFault) {
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: key))
        guard unsafe epoll_ctl(descriptor, operation, watched, &event) == 0 else { throw .last }
    }
}

extension Readiness {
    fileprivate init(events: UInt32) {
        self = []
        if events & EPOLLIN.rawValue != 0 { insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { insert(.writable) }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { insert(.failed) }
    }

    fileprivate var events: UInt32 {
        (contains(.readable) ? EPOLLIN.rawValue : 0) | (contains(.writable) ? EPOLLOUT.rawValue : 0)
    }
}
