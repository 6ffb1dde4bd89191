import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

/// The connections at one end of invitations: sockets, TLS and the frames in it. Lives on the loop.
///
/// It decides nothing: what happened waits in `takeEvents`, what is to happen is told. No connection that it was told to
/// close, or said to be lost, has another event.
final class InvitationWires {
    enum Event {
        /// TCP stands on a connection that was dialled.
        case connected(ConnectionID)
        /// TLS stands.
        case secured(ConnectionID)
        case frame(ConnectionID, FrameHeader, [UInt8])
        case violated(ConnectionID, CloseCode)
        case lost(ConnectionID, Setback)
    }

    /// Bytes of one receive: an invitation is short.
    private static let batch = 32_768
    /// Frames that mean nothing, on one connection, before it is taken for a flood.
    private static let ignoredFrames = 64
    /// Connections that are over and wait for the other side's end; more are cut off, the oldest first.
    private static let partingLimit = 64

    private let loop: EventLoop
    private let tls: InvitationTLS
    private let role: SecureChannel.Role
    private var wires: [ConnectionID: Wire] = [:]
    /// What has come of the frames of each.
    private var readers: [ConnectionID: FrameReader] = [:]
    /// Those that are over, in their order, and until when they wait for the other side's end.
    private var parting: [(wire: Wire, until: Moment)] = []
    private var dirty: Set<ConnectionID> = []
    private var events: [Event] = []
    private var ciphertext = ByteBuffer()
    private var plaintext = ByteBuffer()

    private final class FrameReader {
        var decoder = FrameDecoder()
        /// A frame has come.
        var hasHeard = false
    }

    init(_ loop: EventLoop, _ tls: InvitationTLS, _ role: SecureChannel.Role) {
        self.loop = loop
        self.tls = tls
        self.role = role
    }

    func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    /// Something happened that nobody took, or waits to be written.
    var hasWork: Bool { !events.isEmpty || !dirty.isEmpty }

    /// When the first of those that are over is cut off.
    var deadline: Moment? { parting.lazy.map(\.until).min() }

    func remote(of id: ConnectionID) -> SocketAddress? { wires[id]?.remote }
}

// MARK: what is to happen

extension InvitationWires {
    func dial(_ id: ConnectionID, _ candidate: Candidate, for client: any LoopClient) {
        guard let address = SocketAddress(candidate) else {
            return events.append(.lost(id, .unreachable("not an address")))
        }
        do throws(SocketFault) {
            let socket = try Socket.connecting(to: address)
            try watch(Wire(id, socket, to: address, dialled: true, accepting: nil), for: client)
        } catch {
            events.append(.lost(id, .unreachable("\(address): \(error)")))
        }
    }

    func admit(
        _ id: ConnectionID, _ socket: consuming Socket, from remote: SocketAddress,
        for client: any LoopClient
    ) {
        let wire = Wire(id, socket, to: remote, dialled: false, accepting: nil)
        do throws(SocketFault) { try watch(wire, for: client) } catch {
            return events.append(.lost(id, .lost))
        }
        secure(wire)
    }

    func send(_ id: ConnectionID, _ frame: [UInt8]) {
        wires[id]?.frames.append(frame)
        dirty.insert(id)
    }

    /// Tells the code when frames can be told, flushes, and ends the connection. [close.linger]
    func close(_ id: ConnectionID, _ code: CloseCode) {
        guard let wire = wires[id] else { return }
        guard wire.phase == .framed else { return drop(wire) }
        if code != .ok { Frame.close(code, reason: "").encode(into: &wire.frames) }
        linger(wire)
    }

    /// Writes what waits, and cuts off who had its time.
    func settle() {
        for place in parting where place.until <= loop.now { drop(place.wire) }
        while !dirty.isEmpty {
            let due = dirty.sorted()
            dirty = []
            for id in due {
                if let wire = wires[id] { flush(wire) }
                for place in parting where place.wire.id == id { flush(place.wire) }
            }
        }
    }

    private func watch(_ wire: Wire, for client: any LoopClient) throws(SocketFault) {
        try loop.register(
            wire.socket.descriptor, for: client, token: Int(wire.id.rawValue), interest: wire.interest)
        wires[wire.id] = wire
    }
}

// MARK: what happens

extension InvitationWires {
    func ready(_ token: Int, _ readiness: Readiness) {
        guard let id = UInt32(exactly: token).map(ConnectionID.init(rawValue:)) else { return }
        guard let wire = wires[id] ?? parting.first(where: { $0.wire.id == id })?.wire else { return }
        if wire.phase == .connecting { return finishDialling(wire) }
        if readiness.contains(.writable) { dirty.insert(id) }
        if readiness.contains(.readable) || readiness.contains(.failed) { read(wire) }
    }

    private func finishDialling(_ wire: Wire) {
        if let fault = wire.socket.connectionResult() {
            return lost(wire, .unreachable("\(wire.remote): \(fault)"))
        }
        events.append(.connected(wire.id))
        want(.readable, of: wire)
        secure(wire)
    }

    private func secure(_ wire: Wire) {
        do throws(SecurityFault) {
            wire.channel = try tls.channel(role)
            wire.phase = .securing
            _ = try wire.channel?.handshake()
            dirty.insert(wire.id)
        } catch {
            lost(wire, .security(error))
        }
    }

    private func read(_ wire: Wire) {
        if !takesInput(wire) {
            dirty.insert(wire.id)
            return
        }
        defer { ciphertext.removeAll() }
        switch wire.socket.receive(into: &ciphertext, upTo: Self.batch) {
        case .bytes: absorb(wire)
        case .wouldBlock: break
        case .endOfStream: lost(wire, .lost)
        case .failed(let fault): lost(wire, .unreachable("\(wire.remote): \(fault)"))
        }
    }

    private func absorb(_ wire: Wire) {
        if wire.isParting { return }  // [close.after]
        do throws(SecurityFault) {
            try ciphertext.read { (bytes) throws(SecurityFault) in try wire.channel?.receive(bytes) }
            if wire.phase == .securing {
                dirty.insert(wire.id)
                guard try wire.channel?.handshake() == true else { return }
                wire.phase = .framed
                events.append(.secured(wire.id))
            }
            while let result = try wire.channel?.read(into: &plaintext, upTo: Self.batch) {
                switch result {
                case .bytes: decode(wire)
                case .needsInput: return
                case .closed: return lost(wire, .lost)
                }
            }
        } catch {
            lost(wire, .security(error))
        }
    }

    private func decode(_ wire: Wire) {
        defer { plaintext.removeAll() }
        do throws(FramingError) {
            while !plaintext.isEmpty {
                let reader = readers[wire.id] ?? FrameReader()
                readers[wire.id] = reader
                var frame = OneFrame(maybeInvite: role == .server && !reader.hasHeard)
                let used = try plaintext.read { (bytes) throws(FramingError) in
                    try reader.decoder.decode(bytes, into: &frame)
                }
                plaintext.discard(used)
                reader.hasHeard = reader.hasHeard || frame.header != nil
                if reader.decoder.ignoredFrames > Self.ignoredFrames {
                    return events.append(.violated(wire.id, .flood))
                }
                guard let header = frame.header else { return }
                events.append(.frame(wire.id, header, frame.payload))
            }
        } catch {
            events.append(.violated(wire.id, error.closeCode))
        }
    }
}

// MARK: writing, and the end

extension InvitationWires {
    private func flush(_ wire: Wire) {
        do throws(SecurityFault) {
            while wire.phase != .connecting {
                if wire.phase != .securing, !wire.frames.isEmpty {
                    try wire.channel?.write(contentsOf: &wire.frames)
                }
                guard let waiting = wire.channel?.outputCount, waiting > 0 else {
                    want(.readable, of: wire)
                    if wire.sayFarewell() { continue }
                    return
                }
                switch wire.transmit() {
                case .sent: break
                case .wouldBlock:
                    return want(takesInput(wire) ? [.readable, .writable] : .writable, of: wire)
                case .failed(let fault): return lost(wire, .unreachable("\(wire.remote): \(fault)"))
                }
            }
        } catch {
            lost(wire, .security(error))
        }
    }

    /// What comes while we part is dropped, so it makes no answers.
    private func takesInput(_ wire: Wire) -> Bool {
        wire.isParting || wire.unsent <= SessionEngine.unreadAnswers  // [limit.unread]
    }

    private func want(_ interest: Readiness, of wire: Wire) {
        guard wire.interest != interest else { return }
        wire.interest = interest
        do throws(SocketFault) {
            try loop.setInterest(wire.socket.descriptor, interest)
        } catch {
            lost(wire, .unreachable("\(wire.remote): \(error)"))
        }
    }

    /// The connection ended below the frames. An alert is still said.
    private func lost(_ wire: Wire, _ setback: Setback) {
        let isKnown = wires[wire.id] === wire
        if case .security = setback, isKnown, wire.channel != nil {
            wire.frames.removeAll()
            linger(wire)
        } else {
            drop(wire)
        }
        if isKnown { events.append(.lost(wire.id, setback)) }
    }

    /// What waits is written, our side is ended, and the other side's end is waited for: one second at the most.
    private func linger(_ wire: Wire) {
        wires[wire.id] = nil
        readers[wire.id] = nil
        wire.phase = .parting
        parting.append((wire, until: loop.now + SessionEngine.linger))
        dirty.insert(wire.id)
        if parting.count > Self.partingLimit { drop(parting[0].wire) }
    }

    /// Gives the socket back to the system.
    private func drop(_ wire: Wire) {
        if wires[wire.id] === wire { wires[wire.id] = nil }
        readers[wire.id] = nil
        parting.removeAll { $0.wire === wire }
        loop.deregister(wire.socket.descriptor)
        wire.channel = nil
    }
}
