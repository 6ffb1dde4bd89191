import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

// MARK: what the system knows of connections

extension ConnectionDriver {
    /// Begins to watch a connection that was dialled: whether large packets arrive. On this machine they do.
    func watch(dialled connection: SocketConnection) {
        guard !connection.remote.host.isLoopback, let state = connection.socket.transmission() else { return }
        // It took more than one attempt: the network carried nothing at all for a while.
        if state.hasRepeated { EventLoop.narrowPaths.withLock { $0.forget(connection.remote.host) } }
        connection.follow(state)
        connection.watch = DialWatch(at: loop.now)
        sockets.watched.insert(connection.id)
    }

    /// Looks at the connections that were dialled.
    func lookAtDialled() {
        guard let due = sockets.nextLook, due <= loop.now else { return }
        for id in sockets.watched.sorted() {
            guard let connection = sockets.connections[id], let watch = connection.watch,
                watch.nextLook <= loop.now
            else { continue }
            look(at: connection)
        }
    }

    private func look(at connection: SocketConnection) {
        let isFramed = connection.phase == .framed
        guard let state = connection.socket.transmission(), connection.link == nil, !connection.isClosing
        else {
            return sockets.unwatch(connection)
        }
        switch connection.watch?.look(state, awaitsReply: !isFramed || repliesAtOnce, at: loop.now) {
        case .wait, nil: break
        case .arrived: sockets.unwatch(connection)
        case .narrow:
            EventLoop.narrowPaths.withLock { [now = loop.now] in
                $0.note(connection.remote.host, carriesHandshake: isFramed, at: now)
            }
            if isFramed || connection.segment == NarrowPaths.small {
                lost(
                    connection,
                    .unreachable("\(connection.remote): large packets do not arrive, small ones do"))
            } else {
                redial(connection)
            }
        }
    }

    /// The connection takes no more: finds out how fast it is.
    func measure(_ connection: SocketConnection) {
        guard connection.ahead.isDue(at: loop.now), let state = connection.socket.transmission() else {
            return
        }
        connection.follow(state)
        if connection.ahead.measured(state.rate, isLow: state.isRateLow, at: loop.now) {
            connection.socket.limitUnsent(to: connection.ahead.limit)
        }
    }
}

extension SessionDriver {
    /// Reports to the engine what TCP knows of a link, and has TCP try often enough while a PING has no answer.
    func observe(_ id: ConnectionID) {
        guard let connection = sockets.connections[id], let state = connection.socket.transmission() else {
            return
        }
        // Not with each PING: listing the interfaces costs more than the rest of it.
        if connection.isSilent, loseIfMoved(connection, to: loop.interfaces()) { return }
        connection.follow(state)
        let acknowledged =
            connection.isDialled && state.acknowledged > 0 ? state.acknowledged - 1 : state.acknowledged
        let report = DeliveryReport(
            written: connection.handed + UInt64(connection.unsent), acknowledged: acknowledged,
            sinceAcknowledgement: state.sinceAcknowledgement,
            repetitions: state.isWaiting ? state.repetitions : 0,
            roundTrip: state.roundTrip)
        if !engine.observed(id, report, at: loop.now) {
            EventLoop.narrowPaths.withLock { [now = loop.now] in
                $0.note(connection.remote.host, carriesHandshake: true, at: now)
            }
        }
        guard let silence = engine.links.peer(on: id)?.link.silence else { return }
        let timeout = connection.userTimeout?.next(
            state, since: silence.since, until: silence.until, isLimited: connection.limitsBackOff,
            at: loop.now)
        if let timeout { connection.socket.setUserTimeout(timeout) }
        connection.isSilent = true
    }
}

extension SessionDriver {
    /// Has members know new addresses of this machine, and ends links from one that it has no longer, as soon as discovery notices;
    /// without it, such a link ends when its PING has no answer.
    func watchAddresses() -> PeerLossNotifier.Subscription {
        loop.lossNotifier.watch { [weak self] event in
            guard case .moved = event, let self else { return }
            Task.following(on: self.loop.taskExecutor) { await self.checkAddresses() }
        }
    }

    private func checkAddresses() {
        let interfaces = loop.interfaces()
        // Members that miss this one later dial its present addresses. [data.idempotent]
        if engine.hasMeshData, interfaces.haveUsableAddress { renewMeshData() }
        for connection in sockets.connections.values where connection.link != nil {
            _ = loseIfMoved(connection, to: interfaces)
        }
        loop.wantsTurnEnd(self)
    }

    private func loseIfMoved(_ connection: SocketConnection, to interfaces: [NetworkInterface]) -> Bool {
        guard let own = connection.socket.localAddress?.host, interfaces.haveReplaced(own) else {
            return false
        }
        lost(connection, .lost)
        return true
    }
}

extension SocketConnection {
    /// Where the network is slow, TCP has to wait longer before it repeats.
    func follow(_ state: TransmissionState) {
        let interval = max(Socket.backOff, state.roundTrip * 2)
        guard interval > backOff || interval < backOff / 2 else { return }
        backOff = interval
        socket.limitBackOff(to: interval)
    }

    /// Something is received again.
    func endSilence() {
        isSilent = false
        if let timeout = userTimeout?.reset() { socket.setUserTimeout(timeout) }
    }
}
