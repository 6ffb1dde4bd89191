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
            watch(dialled: connection)
            var nothing = ByteBuffer()
            _ = try connection.channel?.handshake(from: &nothing)
            sockets.dirty.insert(connection.id)
        } catch {
            lost(connection, .security(error))
        }
    }

    /// Makes at most 4 receives a turn, so that one peer cannot block the loop; and none while the peer leaves so much unread
    /// that replies to it would pile up.
    private func read(_ connection: SocketConnection) {
        let streams = sockets.streams
        var buffers = streams.take()
        read(connection, through: &buffers)
        streams.putBack(buffers)
    }

    private func read(_ connection: SocketConnection, through buffers: inout LoopBuffers.Stream) {
        // Before the link there is little to read, and the buffers of the loop's first connection are made for it.
        let limit = connection.link == nil ? Sockets.beforeLink : Sockets.batch
        for _ in 0..<4 {
            if !wantsInput(connection) {
                sockets.dirty.insert(connection.id)
                return
            }
            switch connection.socket.receive(into: &buffers.ciphertext, upTo: limit) {
            case .bytes(let count):
                if connection.isSilent { connection.endSilence() }
                absorb(connection, &buffers)
                guard !connection.isReleased, count == limit else { return }
            case .wouldBlock: return
            case .endOfStream: return lost(connection, .lost)
            case .failed(let fault): return lost(connection, .unreachable("\(connection.remote): \(fault)"))
            }
        }
    }

    private func absorb(_ connection: SocketConnection, _ buffers: inout LoopBuffers.Stream) {
        defer { buffers.ciphertext.removeAll() }
        if connection.isClosing { return }  // [close.after]
        do throws(SecurityFault) {
            if connection.phase == .sniffing {
                guard try sniff(connection, &buffers.ciphertext) else { return }
            }
            if connection.phase == .securing {
                guard try secure(connection, &buffers.ciphertext) else { return }
            }
            try readFrames(connection, &buffers)
        } catch {
            lost(connection, .security(error))
        }
    }

    /// Handles bytes that another driver has received on this connection.
    func absorb(_ received: [UInt8], on id: ConnectionID) {
        guard let connection = sockets.connections[id] else { return }
        let streams = sockets.streams
        var buffers = streams.take()
        buffers.ciphertext.append(received)
        absorb(connection, &buffers)
        streams.putBack(buffers)
    }

    /// The first byte of an accepted connection says what it is; it never decides what it may be. [enc.no-negotiation]
    private func sniff(
        _ connection: SocketConnection, _ input: inout ByteBuffer
    ) throws(SecurityFault) -> Bool {
        guard keeps(connection, &input) else { return false }
        let first = input.read { $0.isEmpty ? 0 : $0[0] }
        connection.channel = try channel(accepted: first)
        guard connection.channel != nil else {
            lost(connection, .lost)
            return false
        }
        connection.phase = .securing
        return true
    }

    private func secure(
        _ connection: SocketConnection, _ input: inout ByteBuffer
    ) throws(SecurityFault) -> Bool {
        sockets.dirty.insert(connection.id)
        willJudge(connection)
        guard try connection.channel?.handshake(from: &input) == true else { return false }
        connection.phase = .framed
        connection.watch?.secured(at: loop.now)
        try secured(connection)
        carryOut()
        return !connection.isReleased
    }

    private func readFrames(
        _ connection: SocketConnection, _ buffers: inout LoopBuffers.Stream
    ) throws(SecurityFault) {
        while let result = try read(from: connection, &buffers) {
            switch result {
            case .bytes:
                if connection.watch != nil { sockets.unwatch(connection) }
                decode(connection, &buffers.plaintext)
            case .message(let message):
                receive(message, on: connection)
                carryOut()
            case .needsInput: return
            case .closed: return lost(connection, .lost)
            }
            if connection.isReleased || connection.isClosing { return }
        }
    }

    /// Decrypts what was received: into the place of a long payload, without a copy in between, or else into the buffer. While
    /// long payloads follow each other, the buffer gets one record, so that the rest of the next one goes into its place.
    private func read(
        from connection: SocketConnection, _ buffers: inout LoopBuffers.Stream
    ) throws(SecurityFault) -> SecureChannel.ReadResult? {
        if connection.missingBytes > 0 {
            return try receivePayload(
                upTo: connection.missingBytes, on: connection, from: &buffers.ciphertext)
        }
        let isShort = connection.hasLongPayloads || connection.link == nil
        let limit = isShort ? LentPayload.record : Sockets.batch
        return try connection.channel?.read(
            from: &buffers.ciphertext, into: &buffers.plaintext, upTo: limit)
    }

    private func decode(_ connection: SocketConnection, _ plaintext: inout ByteBuffer) {
        let count = plaintext.count
        while !plaintext.isEmpty, !connection.isReleased {
            let used = plaintext.read { receive($0, on: connection) }
            plaintext.discard(used)
            carryOut()
        }
        plaintext.removeAll()
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
