package import MultipeerCore
package import MultipeerFraming
package import MultipeerHandshake
import MultipeerLink
package import MultipeerSecurity

/// One end of invitations as a value: its connections from the first frame to the last, and their state machine. Spec 12.
///
/// As with `SessionEngine`, after every call the owner carries out `takeOutputs()` in order, writes what `fill` returns
/// for each of `takeDue()`, and sleeps until `deadline`. A separate engine, because its connections do not belong to a
/// session: they have a port, a key and an application protocol of their own, and at the invitee no session is chosen
/// before the application accepts.
package struct InvitationEngine<Machine: InvitationMachine>: ~Copyable {
    package enum Output: Sendable {
        case connection(ConnectionAction)
        case tell(Machine.Event)
    }

    /// The state machine. The application calls it; the consequences are in the next outputs.
    package var machine: Machine { didSet { isSettled = false } }
    /// Whether the machine was not called since its actions were carried out.
    private var isSettled = false
    private var connections = ConnectionTable()
    private var outputs: [Output] = []
    private var now = Moment(nanoseconds: 0)

    /// The number of ignored frames on one connection beyond which they are a flood.
    private static var ignoredFrames: UInt64 { 64 }

    package init(_ machine: Machine) { self.machine = machine }

    package mutating func takeOutputs() -> [Output] {
        settle()
        if outputs.isEmpty { return [] }
        defer { outputs = [] }
        return outputs
    }

    /// Removes and returns the connections that may have data to write, each once.
    package mutating func takeDue() -> [ConnectionID] { connections.takeDue() }

    /// Moves them to the end of `list`, whose memory can be reused.
    package mutating func takeDue(into list: inout [ConnectionID]) { connections.takeDue(into: &list) }

    /// The next time at which `advance` has an effect.
    package var deadline: Moment? { .earlier(machine.deadline, connections.deadline) }

    /// Whether a connection remains.
    package var hasConnections: Bool { !connections.isEmpty }

    package mutating func advance(to now: Moment) {
        self.now = now
        machine.advance(to: now)
        settle()
        for connection in connections.overdue(at: now) { carryOut(connections.drop(connection, at: now)) }
    }
}

// MARK: input from the network

extension InvitationEngine {
    /// Handles an established TCP connection that was dialled.
    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        self.now = now
        machine.connected(id, at: now)
    }

    /// Handles an established TLS channel. `keyedUID`: the one that the peer's key hashes to. `secrets`: those of this connection,
    /// if the machine needs them.
    package mutating func secured(
        _ id: ConnectionID, keyedUID: UID? = nil, _ secrets: CodeSecrets? = nil, at now: Moment
    ) {
        self.now = now
        guard let connection = connections[id], connection.phase == .securing else { return }
        connection.phase = .open
        machine.secured(id, keyedUID: keyedUID, secrets, at: now)
        settle()
    }

    /// Ends a secured connection with this code.
    package mutating func refuse(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        self.now = now
        guard let connection = connections[id], connection.phase == .open else { return }
        machine.violated(id, code, at: now)
        settle()
    }

    /// Handles bytes received on a secured connection. Returns how many were consumed: the caller passes the rest in
    /// another call, after carrying out the outputs of this one. Bytes received on a closing connection are dropped.
    /// [close.after]
    package mutating func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Moment) -> Int {
        self.now = now
        var used = 0
        while used < bytes.count {
            guard let connection = connections[id], connection.phase == .open else { return bytes.count }
            let step = receiveFrame(bytes.extracting(used..<bytes.count), connection)
            if step == 0 { return bytes.count }
            used += step
            settle()
        }
        return used
    }

    private mutating func receiveFrame(_ bytes: Span<UInt8>, _ connection: Connection) -> Int {
        let isFirst = Machine.takesInvite && !connection.hasReceivedFrame
        var frame = SingleFrameSink(maybeInvite: isFirst || machine.awaitsInvite(on: connection.id))
        do throws(FramingError) {
            let used = try connection.decoder.decode(bytes, into: &frame)
            connection.hasReceivedFrame = connection.hasReceivedFrame || frame.header != nil
            if connection.decoder.ignoredFrames > Self.ignoredFrames {
                machine.violated(connection.id, .flood, at: now)
            } else if let header = frame.header {
                machine.receive(connection.id, header, frame.payload.span, at: now)
            }
            return used
        } catch {
            machine.violated(connection.id, error.closeCode, at: now)
            return bytes.count
        }
    }

    /// Handles a TLS message, without data, that came after the handshake of a connection. [tls.messages]
    package mutating func receive(
        _ message: SecureChannel.PostHandshakeMessage, on id: ConnectionID, at now: Moment
    ) {
        self.now = now
        guard let connection = connections[id], connection.phase == .open,
            let violation = connection.violation(of: message, at: now)
        else { return }
        machine.violated(id, violation.closeCode, at: now)
        settle()
    }

    /// Handles a connection that ended below the frame layer, or could not be made. `hasAlert`: TLS has an alert to
    /// send before the connection is released.
    package mutating func ended(
        _ id: ConnectionID, _ connectionFailure: ConnectionFailure, hasAlert: Bool = false, at now: Moment
    ) {
        self.now = now
        guard let connection = connections[id] else { return }
        let isClosing = connection.finishDeadline != nil
        connection.frames.removeAll()
        if !isClosing { machine.lost(id, connectionFailure, at: now) }
        if hasAlert, !isClosing {
            finish(connection)
        } else {
            carryOut(connections.drop(connection, at: now))
        }
        settle()
    }

    /// Appends the waiting frames to `output`.
    package mutating func fill(_ id: ConnectionID, into output: inout ByteBuffer) {
        connections[id]?.takeFrames(into: &output)
    }

    /// Returns whether to read from this connection, while `unsent` bytes wait to be written to it.
    package func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        connections.wantsInput(id, unsent: unsent)
    }
}

extension InvitationEngine where Machine == Invitee {
    /// Registers a connection accepted from this address (4 or 16 bytes). Returns nil when there is no room for it. One that was
    /// passed on was accepted some time ago: its deadline counts from then, and no other does.
    package mutating func accepted(from origin: [UInt8], at now: Moment) -> ConnectionID? {
        self.now = max(self.now, now)
        guard let id = machine.accepted(from: origin, at: now) else { return nil }
        connections.add(id)
        return id
    }
}

// MARK: actions of the machine

extension InvitationEngine {
    private mutating func settle() {
        if isSettled { return }
        while case let actions = machine.takeActions(), !actions.isEmpty {
            for action in actions { carryOut(action) }
        }
        isSettled = true
    }

    private mutating func carryOut(_ action: Machine.Action) {
        switch action {
        case .dial(let id, let candidate):
            connections.add(id)
            carryOut(.dial(id, candidate, accepting: nil))
        case .send(let id, let frame):
            guard let connection = connections[id], connection.phase == .open else { return }
            connection.frames.append(frame)
            connections.markDue(connection)
        case .close(let id, let code): close(id, code)
        case .tell(let event): outputs.append(.tell(event))
        }
    }

    private mutating func close(_ id: ConnectionID, _ code: CloseCode) {
        carryOut(connections.close(id, code, at: now))
        carryOut(connections.dropSurplus(at: now))
    }

    private mutating func finish(_ connection: Connection) {
        carryOut(connections.finish(connection, at: now))
        carryOut(connections.dropSurplus(at: now))
    }

    private mutating func carryOut(_ order: ConnectionAction?) {
        if let order { outputs.append(.connection(order)) }
    }
}
