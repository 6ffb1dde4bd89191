import MultipeerCore
import MultipeerFraming

// MARK: calls of the owner

extension VirtualSocket {
    /// Returns nil when the connection is established.
    func connectionResult() -> SocketFault? {
        state.withLock { state in
            if let fault = state.fault { return fault }
            return state.phase == .open ? nil : .unreachable
        }
    }

    func receive(into buffer: inout ByteBuffer, upTo limit: Int) -> Socket.Received {
        var taken: [UInt8] = []
        let (received, peer) = state.withLock { state -> (Socket.Received, VirtualSocket?) in
            if let fault = state.fault { return (.failed(fault), nil) }
            let count = min(limit, state.incoming.count)
            guard count > 0 else { return (state.hasEnded ? .endOfStream : .wouldBlock, nil) }
            taken = Array(state.incoming.prefix(count))
            state.incoming.removeFirst(count)
            return (.bytes(count), state.peer)
        }
        buffer.append(taken)
        peer?.wasRead(taken.count)
        return received
    }

    func send(_ bytes: Span<UInt8>) -> Socket.Sent {
        let room = state.withLock { state -> Socket.Sent in
            if let fault = state.fault { return .failed(fault) }
            guard state.phase == .open, !state.hasShutDown else { return .failed(.reset) }
            let count = min(bytes.count, VirtualSocket.window - state.unread)
            guard count > 0 else { return bytes.isEmpty ? .sent(0) : .wouldBlock }
            state.unread += count
            return .sent(count)
        }
        if case .sent(let count) = room, count > 0 {
            push(.bytes([UInt8](copying: bytes.extracting(0..<count))))
        }
        return room
    }

    func shutdownWriting() {
        let isFirst = state.withLock { state in
            guard state.phase == .open, !state.hasShutDown else { return false }
            state.hasShutDown = true
            return true
        }
        if isFirst { push(.end) }
    }

    /// Sets how long sent data may wait at a cut; nil means without limit.
    func setTimeLimit(_ timeLimit: Duration?) { state.withLock { $0.timeLimit = timeLimit } }

    /// Closes as a kernel does: unread data makes it a reset.
    func close() {
        let title = title
        let before = state.withLock { state in
            defer { state.phase = .closed }
            return state.phase
        }
        if before == .closed { return }
        host.release(descriptor)
        if before != .listening { network.note("\(title): closes") }
        if let last = state.withLock({ $0.takeLast(of: before) }) { push(last) }
        let waiting = state.withLock { state in
            defer { state.backlog = [] }
            return state.backlog
        }
        for socket in waiting { socket.close() }
    }

    func crash() {
        close()
        state.withLock { $0.fault = .reset }
        host.touch()
    }

    func dismantle() {
        let waiting = state.withLock { state in
            defer { state.backlog = [] }
            state.phase = .closed
            return state.backlog
        }
        withExtendedLifetime(waiting) {}
    }
}

// MARK: in flight

extension VirtualSocket {
    /// Sends the segment, after those that were sent before.
    func push(_ segment: Segment) {
        let arrival = network.time.now + drawDelay()
        let planned = state.withLock { state -> Moment? in
            state.outgoing.append(segment)
            state.lastArrival = max(state.lastArrival, arrival)
            return state.stalledSince != nil ? nil : state.lastArrival
        }
        if let planned { network.time.at(planned) { self.arrive() } }
    }

    /// Delivers the first segment in flight, unless it has come to a cut.
    private func arrive() {
        let (isStalled, address, peer) = state.withLock { ($0.stalledSince != nil, $0.remote, $0.peer) }
        guard !isStalled, let other = address.flatMap({ network.host(at: $0.host, from: host) }) else {
            return
        }
        guard network.isOpen(host, other) else { return stall() }
        let segment = state.withLock { $0.outgoing.isEmpty ? nil : $0.outgoing.removeFirst() }
        guard let segment, !(peer?.take(segment) ?? segment.isFinal) else { return }
        // There is no reader, and the other end says so.
        network.time.after(drawDelay()) {
            if self.network.isOpen(self.host, other) { self.fail(.reset) }
        }
    }

    private func stall() {
        let now = network.time.now
        state.withLock { $0.stalledSince = now }
        retransmit(after: VirtualNetwork.firstRetransmission)
    }

    /// Repeats what has come to a cut after this time, and if it comes to one again after twice the time. It is given up when it was
    /// not acknowledged for as long as the owner has set.
    private func retransmit(after pause: Duration) {
        let (since, limit) = state.withLock { ($0.stalledSince, $0.timeLimit) }
        guard let since else { return }
        let now = network.time.now
        // The last one is sent when the time is over, as Linux does it.
        let end = since + (limit ?? VirtualNetwork.giveUp)
        network.time.at(min(now + pause, max(end, now))) { [self] in
            let (isStalled, address) = state.withLock {
                ($0.stalledSince == since && $0.fault == nil, $0.remote)
            }
            guard isStalled, let other = address.flatMap({ network.host(at: $0.host, from: host) }) else {
                return
            }
            if network.isOpen(host, other) { return goOn() }
            if network.time.now >= end { return fail(.timedOut) }
            retransmit(after: min(pause * 2, network.longestRetransmission))
        }
    }

    /// The cut is healed.
    private func goOn() {
        let moment = network.time.now + drawDelay()
        let count = state.withLock { state in
            state.stalledSince = nil
            state.lastArrival = max(state.lastArrival, moment)
            return state.outgoing.count
        }
        for _ in 0..<count { network.time.at(moment) { self.arrive() } }
    }

    /// Returns false for what a closed socket rejects silently.
    private func take(_ segment: Segment) -> Bool {
        let isTaken = state.withLock { state in
            if state.phase == .closed || state.fault != nil { return segment.isFinal }
            switch segment {
            case .established: state.phase = .open
            case .bytes(let bytes): state.incoming += bytes
            case .end: state.hasEnded = true
            case .reset:
                state.incoming.removeAll()
                state.fault = .reset
            }
            return true
        }
        host.touch()
        return isTaken
    }

    private func wasRead(_ count: Int) {
        let wasFull = state.withLock { state in
            defer { state.unread -= count }
            return state.unread >= VirtualSocket.window
        }
        if wasFull { host.touch() }
    }

    func fail(_ fault: SocketFault) {
        let isNews = state.withLock { state in
            guard state.phase != .closed, state.fault == nil else { return false }
            state.fault = fault
            return true
        }
        guard isNews else { return }
        network.note("\(title): \(fault)")
        host.touch()
    }
}

extension VirtualSocket.Segment {
    fileprivate var isFinal: Bool {
        switch self {
        case .established, .bytes: false
        case .end, .reset: true
        }
    }
}

extension VirtualSocket.State {
    /// Returns the last segment that is sent when a socket of that phase is closed.
    fileprivate mutating func takeLast(of before: VirtualSocket.Phase) -> VirtualSocket.Segment? {
        guard before == .open, fault == nil else { return nil }
        if !incoming.isEmpty {
            incoming.removeAll()
            return .reset
        }
        return hasShutDown ? nil : .end
    }
}
