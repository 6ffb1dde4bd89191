package import MultipeerCore
package import MultipeerFraming
package import MultipeerHandshake
package import MultipeerLink
import MultipeerMesh
package import MultipeerSecurity

// MARK: input from the network

extension SessionEngine {
    /// The keys that a TLS dialler may present now. [tls.pin]
    package var acceptedPins: [CertificatePin] { mesh.acceptedPins }

    /// Whether a plain connection is expected from any peer. [enc.no-negotiation]
    package var awaitsPlain: Bool { mesh.awaitsPlain }

    /// Registers a connection accepted from this address. Returns nil when there is no room for it, or while the session
    /// leaves: the owner then closes it.
    package mutating func accepted(from address: [UInt8], at now: Moment) -> ConnectionID? {
        self.now = now
        guard leaving == .staying else { return nil }
        // [limit.unauthenticated]
        guard
            let place = unauthenticated.makeRoom(
                for: address, expectedPeers: mesh.expectedPeers(at: address), at: now)
        else { return nil }
        let id = mesh.accepted(at: now)
        links.connections.add(id)
        unauthenticated.add(id, in: place, at: now)
        if let dropped = place.dropped, let connection = links[dropped] {
            drop(connection)
            mesh.lost(dropped, .lost, at: now)
        }
        return id
    }

    /// Handles a dialled connection whose TCP is established.
    package mutating func connected(_ id: ConnectionID, at now: Moment) {
        self.now = now
        mesh.connected(id, at: now)
    }

    /// Handles a connection whose channel is established. `nonce`: 32 random bytes for our HELLO.
    package mutating func secured(
        _ id: ConnectionID, _ channel: SecuredChannel, nonce: [UInt8], at now: Moment
    ) {
        self.now = now
        guard let connection = links[id], connection.phase == .securing else { return }
        connection.phase = .open
        connection.isEncrypted = channel.isEncrypted
        mesh.secured(id, channel, nonce: nonce, at: now)
        settle()
    }

    /// Handles bytes received on a secured connection. Returns how many were consumed: the caller passes the rest in
    /// another call, after carrying out the outputs of this one. Bytes received on a closing connection are dropped.
    /// [close.after]
    package mutating func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Moment) -> Int {
        self.now = now
        guard let connection = links[id] else { return bytes.count }
        var used = 0
        while used < bytes.count {
            guard connection.phase == .open else { return bytes.count }
            let rest = bytes.extracting(used..<bytes.count)
            let step: Int
            if let peer = connection.peer {
                if peer.verification.needsKey { return used }
                step = peer.link.receive(rest, through: &connection.decoder, at: now)
                collect(connection, peer)
            } else {
                step = receiveFrame(rest, connection)
            }
            if step == 0 { return bytes.count }
            used += step
        }
        return used
    }

    /// Ends a secured connection that is not a link with this code.
    package mutating func refuse(_ id: ConnectionID, _ code: CloseCode, at now: Moment) {
        self.now = now
        guard let connection = links[id], connection.phase == .open, connection.peer == nil else { return }
        mesh.violated(id, code, at: now)
        settle()
    }

    /// The number of bytes that are missing of a long payload on this connection; otherwise 0.
    package func missingBytes(on id: ConnectionID) -> Int {
        guard let connection = links[id], connection.phase == .open, connection.peer != nil else { return 0 }
        return connection.decoder.missingBytes
    }

    /// Lets `body` append to that payload what is received, at most the missing bytes: so it is not copied.
    package mutating func receivePayload<Result, Failure: Error>(
        on id: ConnectionID, at now: Moment, _ body: (inout [UInt8]) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        self.now = now
        guard let connection = links[id], let peer = connection.peer else { return nil }
        let before = connection.decoder.missingBytes
        let result = try connection.decoder.fillPayload(body)
        if connection.decoder.missingBytes == 0 {
            _ = peer.link.receive([UInt8]().span, through: &connection.decoder, at: now)
            collect(connection, peer)
        } else if connection.decoder.missingBytes < before {
            peer.link.begin(at: now)
        }
        return result
    }

    /// Handles a TLS message, without data, that came after the handshake of a connection. [tls.messages]
    package mutating func receive(
        _ message: SecureChannel.PostHandshakeMessage, on id: ConnectionID, at now: Moment
    ) {
        self.now = now
        guard let connection = links[id], connection.phase == .open,
            let violation = connection.violation(of: message, at: now)
        else { return }
        if let peer = connection.peer {
            peer.link.begin(at: now)
            peer.link.violated(violation)
            collect(connection, peer)
        } else {
            mesh.violated(id, violation.closeCode, at: now)
        }
        settle()
    }

    /// Handles one frame of a connection that is not a link.
    private mutating func receiveFrame(_ bytes: Span<UInt8>, _ connection: Connection) -> Int {
        var one = SingleFrameSink()
        var used = bytes.count
        do throws(FramingError) {
            used = try connection.decoder.decode(bytes, into: &one)
            guard let header = one.header else { return used }
            mesh.receive(connection.id, header, one.payload.span, at: now)
        } catch {
            mesh.violated(connection.id, error.closeCode, at: now)
        }
        settle()
        if mesh.isConfirmed(connection.id) { unauthenticated.remove(connection.id) }
        return used
    }

    /// Handles a connection that ended below the frame layer, or could not be made. `hasAlert`: TLS has an alert to
    /// send before the connection is released.
    package mutating func ended(
        _ id: ConnectionID, _ connectionFailure: ConnectionFailure, hasAlert: Bool = false, at now: Moment
    ) {
        self.now = now
        guard let connection = links[id] else { return }
        let isClosing = connection.finishDeadline != nil
        connection.frames.removeAll()
        connection.phase = .finishing(until: now)
        if let peer = connection.peer {
            peer.link.lost()  // [tls.truncation]
            collect(connection, peer, detail: connectionFailure.detail)
        } else {
            mesh.lost(id, connectionFailure, at: now)
        }
        // The alert is all that can still be sent.
        if hasAlert, !isClosing {
            carryOut(links.connections.finish(connection, at: now))
            carryOut(links.connections.dropSurplus(at: now))
        } else {
            drop(connection)
        }
        settle()
    }

    /// Takes what TCP knows of a link's connection: the answer to `observe`. Returns false when large packets do not arrive, and the
    /// link has ended for it.
    package mutating func observed(_ id: ConnectionID, _ report: DeliveryReport, at now: Moment) -> Bool {
        self.now = now
        guard let connection = links[id], let peer = connection.peer else { return true }
        peer.link.observed(report, at: now)
        guard peer.link.end != nil else { return true }
        let arrives = peer.link.end != .largePacketsLost
        collect(connection, peer)
        return arrives
    }

    /// Takes the answer to `ask`. [trust.before-confirm]
    package mutating func decide(_ uid: UID, asked id: ConnectionID, isTrusted: Bool, at now: Moment) {
        self.now = now
        mesh.decide(uid, asked: id, isTrusted: isTrusted, at: now)
    }

    /// Appends frames to `output`, about `room` bytes, and returns which messages were completely written. When it is `lending`,
    /// the rest of a long payload is in the result and has to be sent after the output.
    package mutating func fill(
        _ id: ConnectionID, into output: inout ByteBuffer, upTo room: Int, at now: Moment,
        lending: Bool = false
    ) -> Link.Sent {
        guard let connection = links[id] else { return Link.Sent() }
        self.now = now
        connection.takeFrames(into: &output)
        guard let peer = connection.peer else { return Link.Sent() }
        let sent = peer.link.fill(&output, upTo: room, now: now, lending: lending)
        links.collectChannels(of: peer, at: now, into: &outputs)
        if peer.link.end != nil { collect(connection, peer) }
        return sent
    }

    // MARK: - Ends

    /// Sends the code when frames can be sent, writes what waits, and ends the connection.
    mutating func close(_ id: ConnectionID, _ code: CloseCode) {
        carryOut(links.connections.close(id, code, at: now))
        carryOut(links.connections.dropSurplus(at: now))
    }

    mutating func drop(_ connection: Connection) { carryOut(links.connections.drop(connection, at: now)) }

    private mutating func carryOut(_ order: ConnectionAction?) {
        guard let order else { return }
        switch order {
        // Those that are closed have a limit of their own. [limit.closing]
        case .drop(let id), .finish(let id): unauthenticated.remove(id)
        case .dial: break
        }
        outputs.append(.connection(order))
    }
}
