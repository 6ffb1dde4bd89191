import MultipeerCommandLine
package import MultipeerEssentials

/// What arrives here, at the port of this machine, from a peer whose user runs `multipeer doctor --both`, too. Each of its
/// datagrams is answered by an empty one, so that the peer knows that both ways are open.
package final class WayBack: Sendable {
    /// What has arrived.
    package struct Arrivals: Equatable, Sendable {
        package var tcp = false
        package var udp = false

        package init(tcp: Bool = false, udp: Bool = false) { (self.tcp, self.udp) = (tcp, udp) }

        var isComplete: Bool { tcp && udp }
    }

    private struct State {
        var arrivals = Arrivals()
        var isOver = false
    }

    let port: UInt16
    private let peer: SocketAddress.Host
    private let connections: Int32
    private let datagrams: Int32
    private let state = Locked(State())
    /// More than the peer asks for in the longest time.
    private static let mostAnswers = 4_096
    private static let pause: Int32 = 100

    /// Listens at every address of the peer's family. Only this peer counts, and is answered.
    init(_ port: UInt16, from peer: SocketAddress.Host) throws(CommandError) {
        self.port = port
        self.peer = peer
        let place = SocketAddress(peer.isV4 ? .anyV4 : .anyV6, port: port)
        connections = try WayBack.listener(CLibrary.streamSocket, at: place)
        do throws(CommandError) {
            datagrams = try WayBack.listener(CLibrary.datagramSocket, at: place)
        } catch {
            close(connections)
            throw error
        }
    }

    deinit {
        close(connections)
        close(datagrams)
    }

    var arrivals: Arrivals { state.withLock { $0.arrivals } }

    func stop() { state.withLock { $0.isOver = true } }

    /// Takes what arrives until `stop`; blocks.
    func watch() {
        var answers = 0
        while !state.withLock({ $0.isOver }) {
            var sockets = [connections, datagrams].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&sockets, nfds_t(sockets.count), WayBack.pause) > 0 else { continue }
            if sockets[0].revents != 0, takeConnection() { state.withLock { $0.arrivals.tcp = true } }
            // What arrives is always read: a socket that can be read would wake this again at once.
            if sockets[1].revents != 0, takeDatagram(isAnswered: answers < WayBack.mostAnswers) {
                answers += 1
                state.withLock { $0.arrivals.udp = true }
            }
        }
    }

    /// Returns whether it was the peer's.
    private func takeConnection() -> Bool {
        let (descriptor, remote) = unsafe SocketAddress.filled { unsafe accept(connections, $0, $1) }
        if descriptor >= 0 { close(descriptor) }
        return remote?.host == peer
    }

    /// Returns whether it was the peer's.
    private func takeDatagram(isAnswered: Bool) -> Bool {
        var byte: UInt8 = 0
        let (count, remote) = unsafe SocketAddress.filled {
            unsafe Int32(truncatingIfNeeded: recvfrom(datagrams, &byte, 1, 0, $0, $1))
        }
        guard count >= 0, let remote, remote.host == peer else { return false }
        // The port under test answers itself: two commands would answer each other's answers without end.
        guard isAnswered, remote.port != port else { return true }
        let nothing: [UInt8] = []
        return unsafe remote.withSystemAddress { unsafe sendto(datagrams, nothing, 0, 0, $0, $1) } >= 0
    }

    private static func listener(_ kind: Int32, at place: SocketAddress) throws(CommandError) -> Int32 {
        let isStream = kind == CLibrary.streamSocket
        let descriptor = SystemCalls.socket(place.host.isV4 ? AF_INET : AF_INET6, kind, 0)
        var code: Int32 = -1
        if descriptor >= 0 {
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            if !place.host.isV4 {
                _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
            }
            if isStream { _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size) }
            code = unsafe place.withSystemAddress { unsafe bind(descriptor, $0, $1) }
            if code == 0, isStream { code = listen(descriptor, 8) }
        }
        guard code != 0 else { return descriptor }
        let isTaken = errno == EADDRINUSE
        let reason = DescriptorStream.reason(errno)
        if descriptor >= 0 { close(descriptor) }
        let problem =
            isTaken ? "port \(place.port) is in use here" : "cannot listen at port \(place.port): \(reason)"
        throw CommandError(
            problem,
            hint: isTaken ? "end the command that has it, or use --port here and ADDRESS:PORT there" : nil,
            exit: .system)
    }
}

extension WayBack {
    /// Tests both ways with a peer whose user runs this command, too, until both are open or the time is over.
    static func test(
        _ address: SocketAddress, at port: UInt16, within time: Duration
    ) async throws(CommandError) -> [Finding] {
        let back = try WayBack(port, from: address.host)
        async let watched: Void? = try? Worker("way back").run { () throws(CommandError) in back.watch() }
        let end = ContinuousClock.now + time
        var probe = await AddressProbe.result(address)
        // Now, as long as the peer listens there.
        var path = await PathProbe.result(probe)
        while !(probe.isOpen && back.arrivals.isComplete), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(250))
            probe = probe.or(await AddressProbe.result(address))
            if path == nil { path = await PathProbe.result(probe) }
        }
        // The peer may still wait for the answer to its last datagram.
        if probe.isOpen { try? await Task.sleep(for: .milliseconds(500)) }
        back.stop()
        _ = await watched
        return probe.findings + (path.map { [$0.finding] } ?? [])
            + findings(back.arrivals, from: address.host, at: port)
    }

    /// What the user reads about both kinds.
    package static func findings(_ arrivals: Arrivals, from peer: SocketAddress.Host, at port: UInt16)
        -> [Finding]
    {
        [("TCP", arrivals.tcp), ("UDP", arrivals.udp)].map { kind, hasArrived in
            let topic = "\(kind) from \(peer)"
            if hasArrived { return .ok(topic, "reaches port \(port) here") }
            let isRunning = arrivals != Arrivals()
            let hint =
                (isRunning ? "" : "is 'multipeer doctor ADDRESS --both' running there? If so, ")
                + "a firewall here has to let in \(kind) port \(port)"
            return .problem(topic, "nothing arrives at port \(port) here", hint: hint)
        }
    }
}
