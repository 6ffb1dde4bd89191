import MultipeerCore
import MultipeerHandshake

/// One port number for all that a process listens for: the links of a session, the invitations to an advertiser, and the
/// datagrams of its links. So a firewall needs one number.
///
/// Both listen with duplicates of the same sockets, each on its own loop. While a session takes part, it accepts all connections,
/// and passes on those for invitations, which name their protocol in the first bytes. So an unauthenticated connection counts in
/// the limits and deadlines that a session has anyway. [invite.port] [limit.unauthenticated]
package final class SharedPort: Sendable {
    /// The drivers are here while they listen, and both stop before they end.
    private struct State {
        /// The sockets that are duplicated; none while no driver listens.
        var listeners: [Acceptor.Listener] = []
        var session: SessionDriver?
        var invitations: InvitationListener?
        /// Connections that were passed on and not taken yet.
        var passed = 0

        /// Closes the port that no driver uses.
        mutating func closeIfUnused() {
            if session == nil, invitations == nil { listeners = [] }
        }
    }

    private let wanted: UInt16
    private let takesOther: Bool
    private let state = Locked(State())

    private static let named = Locked<[UInt16: SharedPort]>([:])

    /// `takesOther`: the system chooses another port if this one is taken.
    package init(_ number: UInt16, takesOther: Bool = false) {
        wanted = number
        self.takesOther = takesOther
    }

    /// Returns the port with this number, of which the process has one; nil for none, and for 0, which lets the system choose.
    static func named(_ number: UInt16?) -> SharedPort? {
        guard let number, number > 0 else { return nil }
        return named.withLock { ports in
            let port = ports[number] ?? SharedPort(number)
            ports[number] = port
            return port
        }
    }

    /// The number that was wanted, if another program has it and the system has chosen this one instead.
    package func number(replacedBy number: UInt16) -> UInt16? {
        takesOther && number != wanted ? wanted : nil
    }

    /// The session that listens at the port.
    var session: SessionDriver? { state.withLock { $0.session } }
    /// The listener for invitations at the port.
    var invitations: InvitationListener? { state.withLock { $0.invitations } }
}

// MARK: listening

extension SharedPort {
    /// Returns what the session listens with. Throws when the port is taken, by this process or another one.
    func open(for session: SessionDriver, at addresses: [SocketAddress]) throws(SessionFault) -> Acceptor {
        try state.withLock { state throws(SessionFault) in
            guard state.session == nil else { throw taken("another session of this process") }
            let acceptor = try acceptor(&state, addresses, on: session.loop)
            state.session = session
            return acceptor
        }
    }

    /// Returns what the listener for invitations listens with. It takes the addresses of a session that has the port, if it is to
    /// listen at all of them itself.
    func open(
        for invitations: InvitationListener, at addresses: [SocketAddress]
    ) throws(SessionFault) -> Acceptor {
        try state.withLock { state throws(SessionFault) in
            guard state.invitations == nil else { throw taken("another advertiser of this process") }
            state.closeIfUnused()
            let hasSession = addresses.isEmpty && !state.listeners.isEmpty
            let acceptor = try acceptor(
                &state, hasSession ? state.listeners.map(\.address) : addresses, on: invitations.loop)
            state.invitations = invitations
            return acceptor
        }
    }

    /// Ends the part of this driver in the port.
    func release(by driver: some ListeningDriver) {
        state.withLock { state in
            if state.session === driver { state.session = nil }
            if state.invitations === driver { state.invitations = nil }
            state.closeIfUnused()
        }
    }

    /// Takes a place for a connection that is passed on; returns false when none is free. [limit.unauthenticated]
    func takePlace() -> Bool {
        state.withLock { state in
            guard state.passed < UnauthenticatedConnections.limit else { return false }
            state.passed += 1
            return true
        }
    }

    func givePlaceBack() { state.withLock { $0.passed -= 1 } }

    private func acceptor(
        _ state: inout State, _ addresses: [SocketAddress], on loop: EventLoop
    ) throws(SessionFault) -> Acceptor {
        state.closeIfUnused()
        if state.listeners.isEmpty { state.listeners = try bind(addresses, on: loop) }
        // One that has opened less must not be reached at more addresses, and one that wants more would not get them.
        let isSame =
            addresses.isEmpty
            ? state.listeners.allSatisfy(\.isEverywhere)
            : Set(addresses.map(\.host)) == Set(state.listeners.map(\.address.host))
        guard isSame else { throw taken("this process at other addresses") }
        do throws(SocketFault) {
            return try Acceptor(sharing: self, state.listeners)
        } catch {
            state.closeIfUnused()
            throw .network(error)
        }
    }

    private func bind(
        _ addresses: [SocketAddress], on loop: EventLoop
    ) throws(SessionFault) -> [Acceptor.Listener] {
        let hosts = addresses.map { $0.with(port: 0) }
        for number in [wanted] + Array(repeating: 0, count: takesOther ? 8 : 0) {
            do throws(SocketFault) {
                let acceptor = try Acceptor(hosts, on: loop, onOnePort: true, port: number)
                let listeners = acceptor.listeners.sorted { $0.key > $1.key }.map(\.value)
                try listeners.first.map { listener throws(SocketFault) in
                    try requireDatagrams(at: hosts, listener.address.port, on: loop)
                }
                return listeners
            } catch {
                guard error == .addressInUse else { throw .network(error) }
            }
        }
        throw taken("another program")
    }

    /// Throws when the number is taken for datagrams. The sockets for them are opened with the first link.
    private func requireDatagrams(
        at hosts: [SocketAddress], _ number: UInt16, on loop: EventLoop
    ) throws(SocketFault) {
        if hosts.isEmpty { _ = try loop.datagramSocket(at: nil, port: number) }
        for host in hosts { _ = try loop.datagramSocket(at: host.host, port: number) }
    }

    private func taken(_ holder: String) -> SessionFault { .portTaken(wanted, by: holder) }
}
