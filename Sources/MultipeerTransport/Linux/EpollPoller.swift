#if os(Linux) || os(Android)
    import CPlatform
    import MultipeerPlatform

    /// One epoll instance with its event buffer. Safe: it owns the buffer, and only what the kernel filled is read.
    @safe package struct EpollPoller: ReadinessPoller, ~Copyable {
        private static let room = 256

        private let descriptor: Int32
        private let found: UnsafeMutableBufferPointer<multipeer_linux_event>

        package init() throws(SocketFault) {
            descriptor = Descriptors.admitted(multipeer_linux_open_poller())
            guard descriptor >= 0 else { throw .last }
            unsafe found = .allocate(capacity: EpollPoller.room)
            unsafe found.initialize(repeating: multipeer_linux_event())
        }

        deinit {
            close(descriptor)
            unsafe found.deallocate()
        }

        package func add(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
            try check(multipeer_linux_add_watched(descriptor, watched, interest.events, key))
        }

        /// Watches for rising edges only, so that the descriptor need not be read.
        package func add(_ waker: EventWaker, key: UInt64) throws(SocketFault) {
            try check(
                multipeer_linux_add_watched(descriptor, waker.descriptor, Event.readable | Event.edge, key))
        }

        package func change(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
            try check(multipeer_linux_change_watched(descriptor, watched, interest.events, key))
        }

        package func remove(_ watched: Int32) throws(SocketFault) {
            try check(multipeer_linux_remove_watched(descriptor, watched))
        }

        package func wait(milliseconds: Int32) -> Int {
            let count = unsafe multipeer_linux_wait(
                descriptor, found.baseAddress, Int32(EpollPoller.room), milliseconds)
            if count >= 0 { return Int(count) }
            precondition(errno == EINTR, "the loop cannot wait: \(SocketFault.last)")
            return 0
        }

        package func waitBriefly(nanoseconds: Int) { multipeer_linux_wait_briefly(descriptor, nanoseconds) }

        package subscript(index: Int) -> (key: UInt64, readiness: Readiness) {
            let event = unsafe found[index]
            return (event.key, Readiness(events: event.events))
        }

        private func check(_ result: Int32) throws(SocketFault) { guard result == 0 else { throw .last } }
    }

    /// As in `sys/epoll.h`: C libraries declare them with different types.
    private enum Event {
        static let readable: UInt32 = 0x001
        static let writable: UInt32 = 0x004
        static let error: UInt32 = 0x008
        static let hangUp: UInt32 = 0x010
        static let edge: UInt32 = 1 << 31
    }

    extension Readiness {
        fileprivate init(events: UInt32) {
            self = []
            if events & Event.readable != 0 { insert(.readable) }
            if events & Event.writable != 0 { insert(.writable) }
            if events & (Event.error | Event.hangUp) != 0 { insert(.failed) }
        }

        fileprivate var events: UInt32 {
            (contains(.readable) ? Event.readable : 0) | (contains(.writable) ? Event.writable : 0)
        }
    }
#endif
