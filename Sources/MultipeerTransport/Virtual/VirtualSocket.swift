import MultipeerCore

/// A TCP socket of a simulated machine: what it sends arrives in order and late. What has come to a cut is repeated after 200 ms, 400 ms
/// and so on, as a kernel does, so that it goes on with the first repetition after the cut is healed, and not at that moment.
///
/// ```
/// idle ──listen──▶ listening ──────────▶ closed
///   └────connect──▶ connecting ──▶ open ──▶ closed
/// ```
final class VirtualSocket: VirtualPort {
    enum Phase {
        case idle, listening, connecting, open, closed
    }

    /// What is sent to the other end.
    enum Segment {
        case established
        case bytes([UInt8])
        case end
        case reset
    }

    struct State {
        var phase: Phase
        var local: SocketAddress
        var remote: SocketAddress?
        /// The other end, as long as it has an owner or data of it is in flight.
        weak var peer: VirtualSocket?
        var backlog: [VirtualSocket] = []
        var mostWaiting = 0
        var incoming: ArraySlice<UInt8> = []
        /// The other end sends nothing more.
        var hasEnded = false
        /// This end sends nothing more.
        var hasShutDown = false
        var fault: SocketFault?
        /// Sent, and not yet read at the other end.
        var unread = 0
        var outgoing: [Segment] = []
        var lastArrival: Moment
        /// Since when the data in flight has come to a cut; nil while it has not.
        var stalledSince: Moment?
        var jitter: Jitter
        var timeLimit: Duration?
    }

    /// The maximum of sent and unread bytes, beyond which nothing can be sent.
    static let window = 262_144

    let host: VirtualHost
    let state: Locked<State>
    private let place = Locked<Int32>(-1)

    init(_ host: VirtualHost, _ phase: Phase, _ local: SocketAddress, to remote: SocketAddress? = nil) {
        self.host = host
        let time = host.network.time
        state = Locked(
            State(
                phase: phase, local: local, remote: remote, lastArrival: time.now,
                jitter: Jitter(seed: time.random())))
    }

    var descriptor: Int32 { place.withLock { $0 } }
    var network: VirtualNetwork { host.network }
    var local: SocketAddress { state.withLock { $0.local } }
    var remote: SocketAddress? { state.withLock { $0.phase == .open ? $0.remote : nil } }

    /// Gives it an owner from here on, who closes it.
    func open() { place.withLock { $0 = host.admit(self) } }

    var readiness: Readiness {
        state.withLock { state in
            if state.fault != nil { return [.readable, .writable, .failed] }
            switch state.phase {
            case .listening: return state.backlog.isEmpty ? [] : .readable
            case .open:
                var found: Readiness = []
                if !state.incoming.isEmpty || state.hasEnded { found.insert(.readable) }
                if state.unread < VirtualSocket.window { found.insert(.writable) }
                if state.hasEnded && state.hasShutDown { found.insert(.failed) }
                return found
            case .idle, .connecting, .closed: return []
            }
        }
    }

    var title: String {
        let (local, remote) = state.withLock { ($0.local, $0.remote) }
        let other = remote.flatMap { network.host(at: $0.host, from: host)?.name } ?? "no host"
        return "\(host.name):\(local.port) \(other):\(remote?.port ?? 0)"
    }
}

// MARK: listening and dialling

extension VirtualSocket {
    static func listening(
        on address: SocketAddress, backlog: Int32, at host: VirtualHost
    ) throws(SocketFault) -> VirtualSocket {
        guard host.isAlive else { throw .unreachable }
        guard address.host.isV4,
            address.host.isUnspecified || address.host.isLoopback || address.host == host.address
        else { throw .addressUnavailable }
        let port = address.port == 0 ? host.nextPort() : address.port
        if host.find(VirtualSocket.self, where: { $0.listens(at: nil, port) }) != nil { throw .addressInUse }
        let socket = VirtualSocket(host, .listening, address.with(port: port))
        socket.state.withLock { $0.mostWaiting = Int(backlog) }
        socket.open()
        return socket
    }

    /// Returns whether it accepts connections that come to that port, at that address or at any.
    func listens(at address: SocketAddress.Host?, _ port: UInt16) -> Bool {
        state.withLock { state in
            guard state.phase == .listening, state.local.port == port else { return false }
            guard let address, !state.local.host.isUnspecified else { return true }
            return state.local.host == address
        }
    }

    static func connecting(to address: SocketAddress, from host: VirtualHost) throws(SocketFault)
        -> VirtualSocket
    {
        guard host.isAlive, host.network.host(at: address.host, from: host) != nil else { throw .unreachable }
        let own: SocketAddress.Host = address.host.isLoopback ? .loopbackV4 : host.address
        let socket = VirtualSocket(
            host, .connecting, SocketAddress(own, port: host.nextPort()), to: address)
        socket.open()
        host.network.note("\(socket.title): dials")
        socket.ask(1)
        return socket
    }

    /// Requests the connection; again after 1, 2, 4 … seconds without a response.
    private func ask(_ attempt: Int) {
        guard attempt <= 7 else { return fail(.timedOut) }
        let delay = drawDelay()
        network.time.after(delay) { [self] in
            guard state.withLock({ $0.phase == .connecting && $0.fault == nil }) else { return }
            guard let address = state.withLock({ $0.remote }),
                let target = network.host(at: address.host, from: host)
            else { return fail(.unreachable) }
            if network.isOpen(host, target), reach(target, address) { return }
            network.time.after(.seconds(1 << (attempt - 1))) { self.ask(attempt + 1) }
        }
    }

    /// Returns false when the listener has no room.
    private func reach(_ target: VirtualHost, _ address: SocketAddress) -> Bool {
        guard
            let listener = target.find(
                VirtualSocket.self, where: { $0.listens(at: address.host, address.port) })
        else {
            network.time.after(drawDelay()) { self.fail(.refused) }
            return true
        }
        let accepted = VirtualSocket(target, .open, address, to: local)
        accepted.state.withLock { $0.peer = self }
        guard listener.hasRoom else { return false }
        state.withLock { $0.peer = accepted }
        accepted.push(.established)
        // A kernel accepts when the answer to its own answer has come.
        network.time.after(drawDelay() + drawDelay()) {
            if !listener.take(accepted) { self.fail(.reset) }
        }
        return true
    }

    private var hasRoom: Bool {
        state.withLock { $0.phase == .listening && $0.backlog.count < $0.mostWaiting }
    }

    private func take(_ accepted: VirtualSocket) -> Bool {
        let hasRoom = state.withLock { state in
            guard state.phase == .listening, state.backlog.count < state.mostWaiting else { return false }
            state.backlog.append(accepted)
            return true
        }
        if hasRoom { host.touch() }
        return hasRoom
    }

    /// Returns a waiting connection; nil when there is none.
    func accept() -> VirtualSocket? {
        let accepted = state.withLock { state in
            state.backlog.isEmpty ? nil : state.backlog.removeFirst()
        }
        guard let accepted else { return nil }
        accepted.open()
        network.note("\(accepted.title): accepts")
        return accepted
    }

    func drawDelay() -> Duration {
        var jitter = state.withLock { state in
            Jitter(seed: state.jitter.next())
        }
        return network.draw(using: &jitter)
    }
}
