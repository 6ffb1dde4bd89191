import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

// MARK: reading

extension ConnectionDriver {
    /// Handles readiness of the connection with this token.
    func ready(connection token: Int, _ readiness: Readiness) {
        guard let id = UInt32(exactly: token).map(ConnectionID.init(rawValue:)),
            let connection = sockets.connections[id]
        else { return }
        if connection.phase == .connecting { return finishDialling(connection) }
        if readiness.contains(.writable) { sockets.dirty.insert(id) }
        if readiness.contains(.readable) || readiness.contains(.failed) { read(connection) }
    }

    private func finishDialling(_ connection: SocketConnection) {
        if let fault = connection.socket.connectionResult() {
            return lost(connection, .unreachable("\(connection.remote): \(fault)"))
        }
        connected(connection)
        do throws(SecurityFault) {
            connection.channel = try channel(dialled: connection)
            connection.phase = .securing
            want(.readable, of: connection)
            _ = try connection.channel?.handshake(from: &sockets.ciphertext)
            sockets.dirty.insert(connection.id)
        } catch {
            lost(connection, .security(error))
        }
    }

    /// Makes at most 4 receives a turn, so that one peer cannot block the loop; and none while the peer leaves so much unread
    /// that replies to it would pile up.
    private func read(_ connection: SocketConnection) {
        for _ in 0..<4 {
            if !wantsInput(connection) {
                sockets.dirty.insert(connection.id)
                return
            }
            switch connection.socket.receive(into: &sockets.ciphertext, upTo: Sockets.batch) {
            case .bytes(let count):
                absorb(connection)
                guard sockets.connections[connection.id] === connection, count == Sockets.batch else {
                    return
                }
            case .wouldBlock: return
            case .endOfStream: return lost(connection, .lost)
            case .failed(let fault): return lost(connection, .unreachable("\(connection.remote): \(fault)"))
            }
        }
    }

    private func absorb(_ connection: SocketConnection) {
        defer { sockets.ciphertext.removeAll() }
        if connection.isClosing { return }  // [close.after]
        do throws(SecurityFault) {
            if connection.phase == .sniffing { guard try sniff(connection) else { return } }
            if connection.phase == .securing { guard try secure(connection) else { return } }
            try readFrames(connection)
        } catch {
            lost(connection, .security(error))
        }
    }

    /// The first byte of an accepted connection says what it is; it never decides what it may be. [enc.no-negotiation]
    private func sniff(_ connection: SocketConnection) throws(SecurityFault) -> Bool {
        let first = sockets.ciphertext.read { $0.isEmpty ? 0 : $0[0] }
        connection.channel = try channel(accepted: first)
        guard connection.channel != nil else {
            lost(connection, .lost)
            return false
        }
        connection.phase = .securing
        return true
    }

    private func secure(_ connection: SocketConnection) throws(SecurityFault) -> Bool {
        sockets.dirty.insert(connection.id)
        willJudge(connection)
        guard try connection.channel?.handshake(from: &sockets.ciphertext) == true else { return false }
        connection.phase = .framed
        try secured(connection)
        carryOut()
        return sockets.connections[connection.id] === connection
    }

    private func readFrames(_ connection: SocketConnection) throws(SecurityFault) {
        while let result = try read(from: connection) {
            switch result {
            case .bytes:
                decode(connection)
            case .message(let message):
                receive(message, on: connection)
                carryOut()
            case .needsInput: return
            case .closed: return lost(connection, .lost)
            }
            if sockets.connections[connection.id] !== connection || connection.isClosing { return }
        }
    }

    /// Decrypts what was received: into the place of a long payload, without a copy in between, or else into the buffer. While
    /// long payloads follow each other, the buffer gets one record, so that the rest of the next one goes into its place.
    private func read(from connection: SocketConnection) throws(SecurityFault) -> SecureChannel.ReadResult? {
        if connection.missingBytes > 0 {
            return try receivePayload(upTo: connection.missingBytes, on: connection)
        }
        let limit = connection.hasLongPayloads ? LentPayload.record : Sockets.batch
        return try connection.channel?.read(from: &sockets.ciphertext, into: &sockets.plaintext, upTo: limit)
    }

    private func decode(_ connection: SocketConnection) {
        let count = sockets.plaintext.count
        while !sockets.plaintext.isEmpty, sockets.connections[connection.id] === connection {
            let used = sockets.plaintext.read { receive($0, on: connection) }
            sockets.plaintext.discard(used)
            carryOut()
        }
        sockets.plaintext.removeAll()
        if connection.missingBytes > 0 {
            // The payload was received in its place.
            carryOut()
            connection.missingBytes = missingBytes(on: connection)
        } else if count >= LentPayload.record {
            connection.missingBytes = missingBytes(on: connection)
            connection.hasLongPayloads = connection.missingBytes > 0
        }
    }
}
