package import MultipeerCore
package import MultipeerFraming
package import MultipeerIntroduction

/// One end of invitations as a value: its connections from the first frame to the last, and the machine that decides over
/// them. Spec 12.
///
/// What holds for `SessionEngine` holds here: after every call the owner carries out `takeOutputs()` in order, writes what
/// `fill` gives for each of `takeDue()`, and sleeps until `deadline`. An end of its own, because its connections are not a
/// session's: they have a port, a key and an application protocol of their own, and at the end that is asked no session is
/// chosen before the application says yes.
package struct InvitationEngine<Machine: InvitationMachine>: ~Copyable {
    package enum Output: Sendable {
        case connection(ConnectionAction)
        case tell(Machine.Event)
    }

    /// The application calls it; what follows from that is in the next outputs.
    package var machine: Machine
    private var connections = ConnectionTable()
    private var outputs: [Output] = []
    private var now = Moment(nanoseconds: 0)

    /// Frames that mean nothing, on one connection, before it is taken for a flood.
    private static var ignoredFrames: UInt64 { 64 }
    /// Connections that close and wait for the peer's end; beyond that the oldest is given back.
    private static var finishingConnections: Int { 64 }

    package init(_ machine: Machine) { self.machine = machine }

    package mutating func takeOutputs() -> [Output] {
        settle()
        if outputs.isEmpty { return [] }
        defer { outputs = [] }
        return outputs
    }

    /// The connections that may have something to write, each once.
    package mutating func takeDue() -> [ConnectionID] { connections.takeDue() }

    /// The next moment at which `advance` has something to do.
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

// MARK: what the network brings

extension InvitationEngine {
    /// TCP stands on a connection that was dialled.
    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        self.now = now
        machine.connected(id, at: now)
    }

    package mutating func secured(_ id: ConnectionID, at now: Moment) {
        self.now = now
        guard let connection = connections[id], connection.phase == .securing else { return }
        connection.phase = .open
        machine.secured(id, at: now)
        settle()
    }

    /// Bytes arrived on a secured connection. Returns how many were used: the rest is for another call, after the outputs
    /// of this one. What comes on a connection that is closing is dropped. [close.after]
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
        var frame = SingleFrameSink(maybeInvite: Machine.takesInvite && !connection.hasReceivedFrame)
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

    /// The connection ended below the frames, or could not be made. `hasAlert`: TLS has something to say before it is
    /// given back.
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

    /// Appends the frames that wait to `output`.
    package mutating func fill(_ id: ConnectionID, into output: inout ByteBuffer) {
        connections[id]?.takeFrames(into: &output)
    }

    /// Whether to read from this connection, while so many bytes wait to be written to it.
    package func wantsInput(_ id: ConnectionID, unsent: Int) -> Bool {
        connections.wantsInput(id, unsent: unsent)
    }
}

extension InvitationEngine where Machine == Invitee {
    /// A connection was accepted from this address (4 or 16 bytes).
    package mutating func accepted(from origin: [UInt8], at now: Moment) -> ConnectionID {
        self.now = now
        let id = machine.accepted(from: origin, at: now)
        connections.add(id)
        return id
    }
}

// MARK: what the machine decided

extension InvitationEngine {
    private mutating func settle() {
        while case let actions = machine.takeActions(), !actions.isEmpty {
            for action in actions { carryOut(action) }
        }
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
        keepFew()
    }

    private mutating func finish(_ connection: Connection) {
        carryOut(connections.finish(connection, at: now))
        keepFew()
    }

    private mutating func keepFew() {
        guard connections.finishing.count > Self.finishingConnections,
            let oldest = connections.finishing.first
        else { return }
        carryOut(connections.drop(oldest, at: now))
    }

    private mutating func carryOut(_ order: ConnectionAction?) {
        if let order { outputs.append(.connection(order)) }
    }
}
