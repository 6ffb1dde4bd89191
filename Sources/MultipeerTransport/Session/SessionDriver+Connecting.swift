import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: what the engine learns of connections

extension SessionDriver {
    func channel(dialled connection: SocketConnection) throws(SecurityFault) -> SecureChannel {
        guard let accepting = connection.accepting, let tls else { return .plain() }
        return try SecureChannel.tls(tls, role: .client, accepting: [accepting])
    }

    func channel(accepted first: UInt8) throws(SecurityFault) -> SecureChannel? {
        if first == 0x16, let tls {
            return try SecureChannel.tls(tls, role: .server, accepting: engine.acceptedPins)
        }
        return first == UInt8(ascii: "M") && engine.awaitsPlain ? .plain() : nil  // [enc.required]
    }

    /// A peer may have become expected since its connection was accepted: in a mesh, the other end may have learnt of this one a
    /// moment earlier than this one of it. [tls.pin]
    func willJudge(_ connection: SocketConnection) {
        if !connection.isDialled { connection.channel?.accept(engine.acceptedPins) }
    }

    func connected(_ connection: SocketConnection) { engine.connected(connection.id, at: loop.now) }

    func secured(_ connection: SocketConnection) throws(SecurityFault) {
        engine.secured(connection.id, try connection.secured(), nonce: randomness.bytes(32), at: loop.now)
        if connection.isRefused { engine.refuse(connection.id, .tooManyFiles, at: loop.now) }
    }

    func receive(_ bytes: Span<UInt8>, on connection: SocketConnection) -> Int {
        engine.receive(bytes, on: connection.id, at: loop.now)
    }

    func receive(_ message: SecureChannel.PostHandshakeMessage, on connection: SocketConnection) {
        engine.receive(message, on: connection.id, at: loop.now)
    }

    func missingBytes(on connection: SocketConnection) -> Int { engine.missingBytes(on: connection.id) }

    func receivePayload(
        upTo count: Int, on connection: SocketConnection, from input: inout ByteBuffer
    ) throws(SecurityFault) -> SecureChannel.ReadResult? {
        try engine.receivePayload(on: connection.id, at: loop.now) {
            (bytes: inout [UInt8]) throws(SecurityFault) in
            try connection.channel?.read(from: &input, appendingTo: &bytes, upTo: count)
        } ?? nil
    }

    func ended(_ id: ConnectionID, _ setback: ConnectionFailure, hasAlert: Bool) {
        engine.ended(id, setback, hasAlert: hasAlert, at: loop.now)
    }

    func takeDue(into list: inout [ConnectionID]) { engine.links.takeDue(into: &list) }
    func wantsInput(_ connection: SocketConnection) -> Bool {
        engine.links.wantsInput(connection.id, unsent: connection.unsent)
    }

    nonisolated var repliesAtOnce: Bool { true }

    func fill(_ connection: SocketConnection) -> Bool {
        let sendQueue = connection.link?.sendQueue
        var sent = Link.Sent()
        let room = connection.room
        connection.append { frames in
            sent = engine.fill(connection.id, into: &frames, upTo: room, at: loop.now, lending: true)
            return sent.rest
        }
        if !connection.hasFilled { fillUp(connection) }
        if sent.messages > 0 {
            sendQueue?.released(messages: sent.messages, bytes: sent.bytes)
        } else if engine.links.peer(on: connection.id)?.link.queuedMessages ?? 0 > 0 {
            sendQueue?.stalled()
        }
        return sent.mayContinue
    }
}

extension SessionDriver {
    /// Adds to HELLO a frame that the peer ignores, so that both are a packet of the usual size: if such packets do not arrive, there
    /// is no link that ends with the first data. [hello.full]
    private func fillUp(_ connection: SocketConnection) {
        connection.append { frames in
            let isHello = frames.read { $0.count > 3 && $0[3] == FrameKind.hello.rawValue }
            connection.hasFilled = isHello || connection.link != nil
            guard isHello else { return nil }
            let kind = Grease.frameKind(randomness.next())
            Frame.ignorable(kind, channel: 0, [UInt8](repeating: 0, count: 1_440)).encode(into: &frames)
            return nil
        }
    }
}

// MARK: accepting

extension SessionDriver {
    func accepted(from address: [UInt8], at time: Moment) -> ConnectionID? {
        engine.accepted(from: address, at: loop.now)
    }

    /// On a shared port, passes the connections of invitations to their listener.
    func keeps(_ connection: SocketConnection, _ input: inout ByteBuffer) -> Bool {
        let invitations = sockets.acceptor?.sharedPort?.invitations
        if invitations == nil, connection.greeting.isEmpty { return true }
        let received = connection.greeting + input.takeAll()
        connection.greeting = []
        let hello = invitations == nil ? .unreadable : TLSGreeting(received)
        if hello == .incomplete {
            connection.greeting = received
            return false
        }
        guard let invitations, hello.isForInvitations else {
            input.append(received)
            return true
        }
        let passed = sockets.acceptor?.sharedPort.flatMap { port in
            PassedConnection(
                connection.socket, from: connection.remote, at: connection.acceptTime ?? loop.now,
                received: received, isRefused: connection.isRefused, on: port)
        }
        lost(connection, .lost)
        passed?.pass(to: invitations)
        return false
    }

    func listen() throws(SessionFault) {
        guard sockets.acceptor == nil else { return }
        guard !isOver else { throw .refused(DisconnectReason(code: .left)) }
        let sharedPort = configuration.sharedPort
        let acceptor =
            if let sharedPort {
                try sharedPort.open(for: self, at: configuration.listenAddresses)
            } else {
                try SessionFault.network { () throws(SocketFault) in
                    try Acceptor(configuration.listenAddresses, on: loop)
                }
            }
        try SessionFault.network { () throws(SocketFault) in try listen(at: acceptor) }
    }
}
