/// What a loop asks for the events of its sockets.
enum LoopPoller: ~Copyable {
    case kernel(Poller)
    case virtual(VirtualPoller)

    borrowing func add(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        switch self {
        case .kernel(let poller): try poller.add(watched, interest, key: key)
        case .virtual(let poller): poller.add(watched, interest, key: key)
        }
    }

    borrowing func change(_ watched: Int32, _ interest: Readiness, key: UInt64) throws(SocketFault) {
        switch self {
        case .kernel(let poller): try poller.change(watched, interest, key: key)
        case .virtual(let poller): poller.add(watched, interest, key: key)
        }
    }

    borrowing func remove(_ watched: Int32) throws(SocketFault) {
        switch self {
        case .kernel(let poller): try poller.remove(watched)
        case .virtual(let poller): poller.remove(watched)
        }
    }

    /// Waits for events and returns how many there are; in virtual time there is no waiting.
    borrowing func wait(milliseconds: Int32) -> Int {
        switch self {
        case .kernel(let poller): poller.wait(milliseconds: milliseconds)
        case .virtual(let poller): poller.look()
        }
    }

    /// Waits until there are events, at most for this long; not in virtual time.
    borrowing func waitBriefly(nanoseconds: Int) {
        switch self {
        case .kernel(let poller): poller.waitBriefly(nanoseconds: nanoseconds)
        case .virtual: break
        }
    }

    borrowing func event(_ index: Int) -> (key: UInt64, readiness: Readiness) {
        switch self {
        case .kernel(let poller): poller[index]
        case .virtual(let poller): poller.found[index]
        }
    }

    /// In virtual time, whether a look would find something.
    var hasEvents: Bool {
        switch self {
        case .kernel: false
        case .virtual(let poller): poller.hasEvents
        }
    }
}
