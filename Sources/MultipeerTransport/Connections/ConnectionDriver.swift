import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// Carries out the actions of an engine on TCP connections: the session, and both ends of invitations.
///
/// An actor pinned to its loop. All operations on a socket and its TLS are in the extensions of this protocol, once for all of
/// them; a conforming type only provides its engine.
protocol ConnectionDriver: Actor, LoopClient {
    nonisolated var loop: EventLoop { get }
    var sockets: Sockets { get }

    /// Returns the channel of a dialled connection.
    func channel(dialled connection: SocketConnection) throws(SecurityFault) -> SecureChannel
    /// Returns the channel of an accepted connection with this first byte; nil when there is none for it.
    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel?

    /// Returns whether an accepted connection whose first bytes are these is for this driver. If not, more of them are needed, or
    /// the connection was passed on.
    func keeps(_ connection: SocketConnection, _ input: inout ByteBuffer) -> Bool

    // Calls to the engine.

    func connected(_ connection: SocketConnection)
    /// The handshake of a connection continues, and may judge the key of the other side.
    func willJudge(_ connection: SocketConnection)
    func secured(_ connection: SocketConnection) throws(SecurityFault)
    func receive(_ bytes: Span<UInt8>, on connection: SocketConnection) -> Int
    func receive(_ message: SecureChannel.PostHandshakeMessage, on connection: SocketConnection)
    /// Returns how many bytes are missing of a long payload, which are then received with `receivePayload`; otherwise 0.
    func missingBytes(on connection: SocketConnection) -> Int
    /// Reads at most that many bytes of what was received into the place where the engine wants them.
    func receivePayload(
        upTo count: Int, on connection: SocketConnection, from input: inout ByteBuffer
    ) throws(SecurityFault) -> SecureChannel.ReadResult?
    func ended(_ id: ConnectionID, _ setback: ConnectionFailure, hasAlert: Bool)
    /// Whether the peer of a dialled connection answers the first frame at once.
    nonisolated var repliesAtOnce: Bool { get }
    func wantsInput(_ connection: SocketConnection) -> Bool
    /// Moves the connections for which the engine has work to the end of `list`.
    func takeDue(into list: inout [ConnectionID])
    /// Appends the engine's frames for this connection. Returns whether another call may append more at once.
    func fill(_ connection: SocketConnection) -> Bool
    func carryOut()
}

extension ConnectionDriver {
    /// Most drivers share no port.
    func keeps(_ connection: SocketConnection, _ input: inout ByteBuffer) -> Bool { true }

    /// Most drivers have nothing to do before the handshake.
    func connected(_ connection: SocketConnection) {}

    /// Most drivers accept the same keys from the first byte on.
    func willJudge(_ connection: SocketConnection) {}

    /// Most ask a user.
    nonisolated var repliesAtOnce: Bool { false }

    /// Most have only short frames.
    func missingBytes(on connection: SocketConnection) -> Int { 0 }

    func receivePayload(
        upTo count: Int, on connection: SocketConnection, from input: inout ByteBuffer
    ) throws(SecurityFault) -> SecureChannel.ReadResult? { nil }

    /// Carries out an engine's action on a connection.
    func carryOut(_ order: ConnectionAction) {
        switch order {
        case .dial(let id, let candidate, accepting: let pin): dial(id, candidate, accepting: pin)
        case .finish(let id):
            sockets.connections[id]?.phase = .closing
            sockets.dirty.insert(id)
        case .drop(let id): if let connection = sockets.connections[id] { close(connection) }
        }
    }

    private func dial(_ id: ConnectionID, _ candidate: Candidate, accepting pin: CertificatePin?) {
        guard let address = SocketAddress(candidate) else {
            return ended(id, .unreachable("not an address"), hasAlert: false)
        }
        dial(id, address, accepting: pin)
    }

    /// Dials the same address again, with smaller packets. The engine does not notice.
    func redial(_ connection: SocketConnection) {
        close(connection)
        dial(connection.id, connection.remote, accepting: connection.accepting)
        carryOut()
    }

    private func dial(_ id: ConnectionID, _ address: SocketAddress, accepting pin: CertificatePin?) {
        let segment = EventLoop.narrowPaths.withLock { [now = loop.now] in
            $0.segment(to: address.host, at: now)
        }
        do throws(SocketFault) {
            let socket = try loop.connect(to: address, segment: segment)
            if let own = socket.localAddress?.host, !own.isUnspecified { sockets.dialledFrom.insert(own) }
            let connection = SocketConnection(id, socket, to: address, dialled: true, accepting: pin)
            connection.segment = segment
            try watch(connection)
        } catch {
            ended(id, .unreachable("\(address): \(error)"), hasAlert: false)
        }
    }

    /// Takes over an accepted connection that the engine knows.
    func admit(_ id: ConnectionID, _ socket: consuming Socket, from remote: SocketAddress) {
        do throws(SocketFault) {
            try watch(SocketConnection(id, socket, to: remote, dialled: false, accepting: nil))
        } catch {
            ended(id, .unreachable("\(error)"), hasAlert: false)
        }
    }

    private func watch(_ connection: SocketConnection) throws(SocketFault) {
        try loop.register(
            connection.socket.descriptor, for: self, token: Int(connection.id.rawValue),
            interest: connection.interest)
        sockets.connections[connection.id] = connection
    }

    /// Closes the socket.
    private func close(_ connection: SocketConnection) {
        guard sockets.connections.removeValue(forKey: connection.id) != nil else { return }
        sockets.dirty.remove(connection.id)
        sockets.unwatch(connection)
        loop.deregister(connection.socket.descriptor)
        connection.channel = nil
        connection.isReleased = true
        // A descriptor becomes free: the next that waits can have it.
        if sockets.acceptResumes != nil { sockets.acceptResumes = loop.now }
    }

    /// Reports a connection that ended below the frames.
    func lost(_ connection: SocketConnection, _ setback: ConnectionFailure) {
        if connection.isReleased { return }
        var hasAlert = false
        if case .security = setback, connection.channel != nil, !connection.isClosing {
            connection.dropFrames()
            hasAlert = true
        }
        ended(connection.id, setback, hasAlert: hasAlert)
        carryOut()
    }

    func want(_ interest: Readiness, of connection: SocketConnection) {
        guard connection.interest != interest else { return }
        connection.interest = interest
        do throws(SocketFault) {
            try loop.setInterest(connection.socket.descriptor, interest)
        } catch {
            lost(connection, .unreachable("\(error)"))
        }
    }
}
