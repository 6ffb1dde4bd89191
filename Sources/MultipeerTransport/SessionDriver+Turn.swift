import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: what the loop brings

extension SessionDriver {
    nonisolated package func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.handle(token, readiness) }
    }

    nonisolated package func deadlineReached() { assumeIsolated { $0.advance() } }
    nonisolated package func poked() { assumeIsolated { $0.takeFromCallers() } }
    nonisolated package func turnEnded() { assumeIsolated { $0.settle() } }

    private func handle(_ token: Int, _ readiness: Readiness) {
        if token < 0 { return accept(from: token) }
        guard let id = UInt32(exactly: token).map(ConnectionID.init(rawValue:)), let wire = wires[id] else { return }
        if wire.phase == .connecting { return finishDialling(wire) }
        if readiness.contains(.writable) { dirty.insert(id) }
        if readiness.contains(.readable) || readiness.contains(.failed) { read(wire) }
        // Here and not only at the end of the turn: a reader on the loop then answers within this turn.
        inbox.push(&pending)
    }

    private func advance() {
        let now = loop.now
        introductions.advance(to: now)
        for wire in Array(wires.values) {
            if case .parting(let deadline) = wire.phase, deadline <= now { close(wire) }
            guard let seat = wire.seat else { continue }
            seat.link.advance(to: now)
            dirty.insert(wire.id)
            collect(wire, seat)
        }
        if let acceptResumes, acceptResumes <= now { resumeAccepting() }
        if let leaveDeadline, leaveDeadline <= now { leaveNow() }
        loop.wantsTurnEnd(self)
    }

    /// Messages that senders queued, and credit for what the reader took.
    func takeFromCallers() {
        let taken = consumed.take()
        for wire in wires.values {
            guard let seat = wire.seat else { continue }
            let cost = taken[Int(wire.id.rawValue)]
            if cost > 0 { seat.link.consumed(cost) }
            let messages = seat.outlet.take()
            if !messages.isEmpty { seat.link.enqueue(messages) }
            dirty.insert(wire.id)
        }
        loop.wantsTurnEnd(self)
    }

    /// Carries out every decision, writes what is due, delivers in one batch and sets the next deadline.
    func settle() {
        carryOut()
        // Writing can end a connection, which can make others be dialled or selected: until nothing is left to write.
        while !dirty.isEmpty {
            let due = dirty.sorted()
            dirty = []
            for id in due { wires[id].map { flush($0) } }
            carryOut()
        }
        inbox.push(&pending)
        setDeadline()
    }

    private func setDeadline() {
        let moments = [introductions.deadline, acceptResumes, leaveDeadline] + wires.values.map(\.deadline)
        loop.setDeadline(self, moments.compactMap { $0 }.min())
    }
}

// MARK: reading

extension SessionDriver {
    /// At most 16 receives a turn, so that one peer cannot keep the loop from the others.
    func read(_ wire: Wire) {
        for _ in 0..<16 {
            switch wire.socket.receive(into: &ciphertext, upTo: SessionDriver.batch) {
            case .bytes(let count):
                absorb(wire)
                guard wires[wire.id] === wire, count == SessionDriver.batch else { return }
            case .wouldBlock: return
            case .endOfStream: return lost(wire, .lost)
            case .failed(let fault): return lost(wire, .unreachable(fault.description))
            }
        }
    }

    private func absorb(_ wire: Wire) {
        defer { ciphertext.removeAll() }
        if wire.isParting { return }  // [close.after]
        do throws(SecurityFault) {
            if wire.phase == .sniffing { guard try sniff(wire) else { return } }
            try ciphertext.read { (bytes) throws(SecurityFault) in try wire.channel?.receive(bytes) }
            if wire.phase == .securing { guard try secure(wire) else { return } }
            try readFrames(wire)
        } catch {
            dirty.insert(wire.id)
            lost(wire, .security(error))
        }
    }

    /// The first byte of an accepted connection says what it is; it never decides what it may be. [enc.no-negotiation]
    private func sniff(_ wire: Wire) throws(SecurityFault) -> Bool {
        let first = ciphertext.read { $0.isEmpty ? 0 : $0[0] }
        switch first {
        case 0x16:
            guard let tls else { close(wire); return false }
            wire.channel = try SecureChannel.tls(
                tls, role: .server, accepting: introductions.acceptedFingerprints)
        case UInt8(ascii: "M") where introductions.awaitsPlain:
            wire.channel = SecureChannel.plain()
        default:
            close(wire)
            introductions.lost(wire.id, .lost, at: loop.now)
            return false
        }
        wire.phase = .securing
        return true
    }

    private func secure(_ wire: Wire) throws(SecurityFault) -> Bool {
        dirty.insert(wire.id)
        guard try wire.channel?.handshake() == true else { return false }
        wire.phase = .framed
        var channel = SecuredChannel.plain
        if let fingerprint = wire.channel?.peerFingerprint,
            let binding = try wire.channel?.exportKey(label: "EXPORTER-mpc1-binding", context: [], count: 32)
        {
            channel = .encrypted(fingerprint, binding: binding)
        }
        introductions.secured(wire.id, channel, nonce: try Randomness.bytes(32), at: loop.now)
        carryOut()
        return wires[wire.id] === wire
    }

    private func readFrames(_ wire: Wire) throws(SecurityFault) {
        while true {
            guard let result = try wire.channel?.read(into: &plaintext, upTo: SessionDriver.batch) else { return }
            switch result {
            case .bytes:
                decode(wire)
                plaintext.removeAll()
                if wires[wire.id] !== wire || wire.isParting { return }
            case .needsInput: return
            case .closed: return lost(wire, .lost)
            }
        }
    }

    private func decode(_ wire: Wire) {
        do throws(FramingError) {
            while !plaintext.isEmpty, wires[wire.id] === wire, !wire.isParting {
                if let seat = wire.seat {
                    let now = loop.now
                    let used = plaintext.read { seat.link.receive($0, through: &wire.decoder, at: now) }
                    plaintext.discard(used)
                    collect(wire, seat)
                    if used == 0 { return }
                } else {
                    var one = OneFrame()
                    let used = try plaintext.read { (bytes) throws(FramingError) in
                        try wire.decoder.decode(bytes, into: &one)
                    }
                    plaintext.discard(used)
                    guard let header = one.header else { return }
                    introductions.receive(wire.id, header, one.payload.span, at: loop.now)
                    carryOut()
                }
            }
        } catch {
            introductions.violated(wire.id, error.closeCode, at: loop.now)
            carryOut()
        }
    }
}

// MARK: writing

extension SessionDriver {
    /// Fills, seals and sends until the socket or the work is exhausted; at most about 1 MiB a turn.
    func flush(_ wire: Wire) {
        var budget = 1_048_576
        do throws(SecurityFault) {
            while wires[wire.id] === wire, wire.phase != .connecting {
                if budget > 0 { try seal(wire) }
                guard let waiting = wire.channel?.outputCount, waiting > 0 else { break }
                guard try send(wire) else { return }
                budget -= waiting
                if budget <= 0 { loop.wake(self); break }
            }
            finishParting(wire)
        } catch {
            lost(wire, .security(error))
        }
    }

    private func seal(_ wire: Wire) throws(SecurityFault) {
        guard let waiting = wire.channel?.outputCount, waiting < SessionDriver.sealing else { return }
        if let seat = wire.seat {
            let sent = seat.link.fill(&wire.frames, upTo: SessionDriver.frames, now: loop.now)
            seat.outlet.released(messages: sent.messages, bytes: sent.bytes)
            if seat.link.end != nil { collect(wire, seat) }
        }
        if wire.phase != .securing, !wire.frames.isEmpty { try wire.channel?.write(contentsOf: &wire.frames) }
    }

    /// False when the socket is full or gone.
    private func send(_ wire: Wire) throws(SecurityFault) -> Bool {
        var outcome = Socket.Sent.sent(0)
        wire.channel?.withOutput { bytes in
            outcome = wire.socket.send(bytes)
            if case .sent(let count) = outcome { return count }
            return 0
        }
        switch outcome {
        case .sent:
            return true
        case .wouldBlock:
            want([.readable, .writable], of: wire)
            return false
        case .failed(let fault):
            lost(wire, .unreachable(fault.description))
            return false
        }
    }

    /// Everything is written: a connection that parts says farewell below the frames, too, then ends its side.
    private func finishParting(_ wire: Wire) {
        guard wires[wire.id] === wire else { return }
        if wire.phase != .connecting { want(.readable, of: wire) }
        guard wire.isParting, !wire.hasShutDown else { return }
        wire.channel?.close()
        wire.hasShutDown = wire.channel?.outputCount == 0
        if wire.hasShutDown { wire.socket.shutdownWriting() } else { dirty.insert(wire.id) }
    }

    func want(_ interest: Readiness, of wire: Wire) {
        guard wire.interest != interest else { return }
        wire.interest = interest
        do throws(SocketFault) {
            try loop.setInterest(wire.socket.descriptor, interest)
        } catch {
            lost(wire, .unreachable("\(error)"))
        }
    }
}
