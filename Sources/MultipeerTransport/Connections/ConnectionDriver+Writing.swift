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
            while !connection.isReleased, connection.phase != .connecting {
                let seals = connection.maySeal && (connection.phase == .framed || connection.isClosing)
                let mayContinue = !seals || gather(connection)
                let written = try connection.write(sealing: seals)
                if written.sealed == 0 { return drained(connection) }
                guard goesOn(connection, after: written.outcome) else { return }
                if !mayContinue, written.unsent == 0 { return drained(connection) }
                budget -= written.sealed
                if budget <= 0 {
                    sockets.unfinished.insert(connection.id)
                    return loop.wake(self)
                }
            }
        } catch {
            lost(connection, .security(error))
        }
    }

    /// Gathers the frames that are to be sealed. Returns whether another call may gather more at once.
    private func gather(_ connection: SocketConnection) -> Bool {
        let mayContinue = fill(connection)
        carryOut()
        return mayContinue || connection.isClosing
    }

    /// Returns false when the socket is full or gone.
    private func goesOn(_ connection: SocketConnection, after outcome: Socket.Sent) -> Bool {
        switch outcome {
        case .sent:
            return true
        case .wouldBlock:
            measure(connection)
            want(wantsInput(connection) ? [.readable, .writable] : .writable, of: connection)
            return false
        case .failed(let fault):
            lost(connection, .unreachable("\(connection.remote): \(fault)"))
            return false
        }
    }

    private func drained(_ connection: SocketConnection) {
        want(.readable, of: connection)
        if !connection.isReleased, connection.closeGracefully() {
            sockets.dirty.insert(connection.id)
        }
    }
}
