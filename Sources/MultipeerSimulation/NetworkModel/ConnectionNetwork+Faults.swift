import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

// MARK: what goes wrong on it

extension ConnectionNetwork {
    func split(_ near: UInt32, isOneSided: Bool, for duration: Int64) {
        for index in nodes.indices { trouble(index) }
        partitions.append(Partition(near: near, isOneSided: isOneSided, isUp: true))
        apply(near, isOneSided) { $0.block($1, $2) }
        say("the network splits: \(String(near, radix: 2))\(isOneSided ? ", one way" : "")")
        if duration < .max / 2 { post(.heal(partitions.count - 1), after: duration) }
    }

    func heal(_ number: Int) {
        guard partitions[number].isUp else { return }
        partitions[number].isUp = false
        apply(partitions[number].near, partitions[number].isOneSided) { $0.unblock($1, $2) }
        say("the network heals")
        observer.disturbance = now
        for index in nodes.indices { trouble(index) }
    }

    private func apply(_ near: UInt32, _ isOneSided: Bool, _ change: (inout Reachability, Int, Int) -> Void) {
        for one in nodes.indices where near >> UInt32(one) & 1 == 1 {
            for other in nodes.indices where near >> UInt32(other) & 1 == 0 {
                change(&reachability, one, other)
                if !isOneSided { change(&reachability, other, one) }
            }
        }
    }

    /// Kills the connection of a link without notifying its ends: each finds out for itself, at some time or by its idle
    /// timeout.
    func cut(_ one: Int, _ other: Int) {
        guard let socket = nodes[one].link(to: nodes[other].uid) else { return }
        let connection = socket.connection
        for index in connection.nodes { trouble(index) }
        say("\(name(socket)) dies")
        die(connection)
        for end in [0, 1] where random.chance(oneIn: 2) {
            post(
                .lost(connection: connection.number, end: end),
                after: Int64(random.uniform(0...12_000)) * 1_000_000)
        }
    }

    /// Breaks a connection of a fragile pair while only one end holds it as its link; both ends find out.
    func breakIfFragile(_ socket: SimulatedSocket) {
        let connection = socket.connection
        guard !connection.record.isWhole, fragile.remove(Set(connection.nodes)) != nil else { return }
        for index in connection.nodes {
            trouble(index)
            observer.excuse(index)
        }
        say("\(name(socket)) breaks before its other end has it as a link")
        die(connection)
        for end in [0, 1] {
            post(
                .lost(connection: connection.number, end: end),
                after: Int64(random.uniform(1...50)) * 1_000_000)
        }
    }

    /// Sends frames one by one, as the interceptor returns them.
    func send(_ frames: [UInt8], on socket: SimulatedSocket, through interceptor: any Interceptor) {
        for place in FrameRanges(in: frames) {
            let frame = Array(frames[place.whole])
            let forwarded = interceptor.forward(frame, from: socket)
            if forwarded != frame { meddled(with: socket.connection) }
            if let forwarded { send(.bytes(forwarded), on: socket.connection, toward: 1 - socket.end) }
        }
    }

    /// Records that an attacker tampered with the connection: what follows is no violation.
    func meddled(with connection: SimulatedConnection) {
        connection.isForged = true
        observer.disturbance = now
        for index in connection.nodes where index >= 0 { trouble(index) }
    }
}
