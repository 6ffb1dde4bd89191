import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

// MARK: writing

extension ConnectionDriver {
    /// Writes what is due. That can end a connection, which can cause others to be dialled or selected: repeats until nothing is
    /// left to write.
    func writeDue() {
        var due: [ConnectionID] = []
        swap(&due, &sockets.emptied)
        while true {
            takeDue(into: &due)
            sockets.addDirty(to: &due)
            if due.isEmpty { break }
            for id in due { if let connection = sockets.connections[id] { flush(connection) } }
            carryOut()
            due.removeAll(keepingCapacity: true)
        }
        swap(&due, &sockets.emptied)
    }

    /// Fills, seals and sends until the socket or the work is exhausted; at most about 256 KiB a turn, so that a message that
    /// arrives in the meantime, in either direction, does not wait for much more.
    func flush(_ connection: SocketConnection) {
        var budget = 262_144
        do throws(SecurityFault) {
            while sockets.connections[connection.id] === connection, connection.phase != .connecting {
                let mayContinue = try seal(connection)
                guard let waiting = connection.channel?.outputCount, waiting > 0 else {
                    return drained(connection)
                }
                guard send(connection) else { return }
                if !mayContinue, connection.unsent == 0 { return drained(connection) }
                budget -= waiting
                if budget <= 0 {
                    sockets.unfinished.insert(connection.id)
                    return loop.wake(self)
                }
            }
        } catch {
            lost(connection, .security(error))
        }
    }

    /// Returns whether another call may seal more at once.
    private func seal(_ connection: SocketConnection) throws(SecurityFault) -> Bool {
        guard let waiting = connection.channel?.outputCount, waiting < Sockets.sealing else { return true }
        guard connection.phase == .framed || connection.isClosing else { return true }
        let mayContinue = fill(connection)
        carryOut()
        if !connection.frames.isEmpty { try connection.channel?.write(contentsOf: &connection.frames) }
        if let rest = connection.rest { try seal(rest, connection) }
        return mayContinue || connection.isClosing
    }

    /// Seals the full records of a payload from where it lies; what is left begins the next record.
    private func seal(_ rest: LentPayload, _ connection: SocketConnection) throws(SecurityFault) {
        connection.rest = nil
        let bytes = rest.bytes.span
        let end = rest.range.upperBound - rest.range.count % LentPayload.record
        try connection.channel?.write(bytes.extracting(rest.range.lowerBound..<end))
        connection.frames.append(bytes.extracting(end..<rest.range.upperBound))
    }

    /// Returns false when the socket is full or gone.
    private func send(_ connection: SocketConnection) -> Bool {
        switch connection.transmit() {
        case .sent:
            return true
        case .wouldBlock:
            want(wantsInput(connection) ? [.readable, .writable] : .writable, of: connection)
            return false
        case .failed(let fault):
            lost(connection, .unreachable("\(connection.remote): \(fault)"))
            return false
        }
    }

    private func drained(_ connection: SocketConnection) {
        want(.readable, of: connection)
        if sockets.connections[connection.id] === connection, connection.closeGracefully() {
            sockets.dirty.insert(connection.id)
        }
    }
}
