import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

// MARK: what applications do

extension World {
    /// What a lie needs to spread, and a link to become one.
    static let settling: Int64 = 500_000_000

    func isExcused(_ node: Int) -> Bool { excused >> UInt32(node) & 1 == 1 }
    func excuse(_ node: Int) { excused |= 1 << UInt32(node) }

    /// Connection data of a node, as its application asks for it.
    func data(of node: Node, for recipient: UID?, joinsMesh: Bool) throws -> ConnectionData {
        let flags: ConnectionData.Flags = joinsMesh ? .mesh : []
        var candidates = [node.candidate()].compactMap { $0 }
        // Addresses of other networks, where nobody is.
        for number in 0..<node.profile.strayAddresses {
            let stray = Candidate(address: [127, 0, 9, UInt8(node.index + 1)], port: 40_000 + UInt16(number))
            candidates.insert(contentsOf: [stray].compactMap { $0 }, at: 0)
        }
        return try node.engine.connectionData(
            for: recipient, candidates: candidates, flags: flags, token: dice.bytes(32), at: moment(node))
    }

    /// Data that join a mesh; what its members hear of the node is there before anybody can be one.
    func meshData(of node: Node, for recipient: UID?) throws -> ConnectionData {
        let open = try data(of: node, for: nil, joinsMesh: true)
        return recipient == nil ? open : try data(of: node, for: recipient, joinsMesh: true)
    }

    /// Two applications exchange data, which takes each a moment, and seek each other.
    func join(_ one: Int, _ other: Int, joinsMesh: Bool, isAddressed: Bool) {
        let kind = Offer(joinsMesh: joinsMesh, isAddressed: isAddressed)
        offer(nodes[one], nodes[other], kind)
        offer(nodes[other], nodes[one], kind)
    }

    func offer(_ from: Node, _ to: Node, _ kind: Offer) {
        guard from.isRunning else { return }
        if from.engine.isLeaving {
            return post(.offer(from: from.index, to: to.index, kind), after: World.leavingPause)
        }
        let recipient = kind.isAddressed ? to.uid : nil
        guard
            let data = kind.joinsMesh
                ? try? meshData(of: from, for: recipient)
                : try? self.data(of: from, for: recipient, joinsMesh: false)
        else { return }
        handed.append(data)
        post(.seek(node: to.index, data: handed.count - 1), after: Int64(dice.roll(1...400)) * 1_000_000)
        settle(from)
    }

    /// What an application asks of a session that leaves waits for its next instance: it looks this often.
    private static let leavingPause: Int64 = 50_000_000

    func seek(_ node: Node, _ number: Int, _ happening: Happening) {
        guard node.isUp else { return }
        if node.isPaused { return node.backlog.append(happening) }
        if node.engine.isLeaving { return post(happening, after: World.leavingPause) }
        let data = handed[number]
        do throws(Introductions.Refusal) {
            let hasStarted = try node.engine.connect(with: data, at: moment(node))
            node.sought.insert(data.peer.uid)
            say("\(node.index) seeks \(data.peer.displayName): \(hasStarted ? "begins" : "known")")
            if hasStarted {
                node.attempts[data.peer.uid] = 1
                if node.connecting[data.peer.uid] != nil { node.connecting[data.peer.uid] = now }
            }
        } catch {
            say("\(node.index) cannot seek \(data.peer.displayName): \(error)")
        }
        settle(node)
    }

    /// Says goodbye to everyone after what was sent; a new instance begins when that is done.
    func disconnect(_ node: Node) {
        guard node.isRunning else { return }
        say("\(node.index) says goodbye")
        trouble(node.index)
        node.isDeparting = true
        node.engine.leave(within: .seconds(3), at: moment(node))
        settle(node)
    }

    func cancel(_ node: Node, _ uid: UID) {
        guard node.isRunning else { return }
        trouble(node.index)
        node.engine.cancel(uid, at: moment(node))
        settle(node)
    }

    /// Sends a few numbered messages on one link, and does so again after a while.
    func chatter(_ node: Node, _ life: Int) {
        guard node.life == life, chats else { return }
        post(.chatter(node: node.index, life: life), after: Int64(dice.roll(400...4_000)) * 1_000_000)
        guard node.isRunning, !node.engine.isLeaving, !node.links.isEmpty else { return }
        let socket = dice.pick(node.links)
        let isLong = dice.hits(oneIn: 24)
        chat(node, socket, messages: dice.roll(1...4), longest: isLong ? 70_000 : 200)
        settle(node)
    }

    func chat(_ node: Node, _ socket: Socket, messages: Int, longest: Int) {
        guard socket.seat != nil else { return }
        var batch: [[UInt8]] = []
        for _ in 0..<messages {
            socket.wire.record.sent[socket.end] += 1
            let number = UInt64(socket.wire.record.sent[socket.end])
            let filling = dice.roll(0...max(0, longest - 32))
            var message: [UInt8] = []
            message.reserveCapacity(32 + filling)
            for value in [
                number, UInt64(socket.wire.number), node.endpoint.instance, UInt64(32 + filling),
            ] {
                for shift in stride(from: UInt64(56), through: 0, by: -8) {
                    message.append(UInt8(truncatingIfNeeded: value >> shift))
                }
            }
            message.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: number), count: filling))
            batch.append(message)
        }
        node.engine.enqueue(batch, on: socket.id)
    }

    func take(_ node: Node, _ life: Int) {
        guard node.life == life, node.isUp else { return }
        node.isSlow = false
        for socket in node.links {
            guard let seat = socket.seat, seat.untaken > 0 else { continue }
            node.engine.consumed(seat.untaken, on: socket.id)
            seat.untaken = 0
        }
        settle(node)
    }

    // MARK: faults

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
        disturbance = now
        for index in nodes.indices { trouble(index) }
        recover()
    }

    private func apply(_ near: UInt32, _ isOneSided: Bool, _ change: (inout Paths, Int, Int) -> Void) {
        for one in nodes.indices where near >> UInt32(one) & 1 == 1 {
            for other in nodes.indices where near >> UInt32(other) & 1 == 0 {
                change(&paths, one, other)
                if !isOneSided { change(&paths, other, one) }
            }
        }
    }

    /// The connection of a link dies, and nobody is told: each end finds out for itself, at some time or by its silence.
    func cut(_ one: Int, _ other: Int) {
        guard let socket = nodes[one].link(to: nodes[other].uid) else { return }
        let wire = socket.wire
        for index in wire.nodes { trouble(index) }
        say("\(name(socket)) dies")
        die(wire)
        for end in [0, 1] where dice.hits(oneIn: 2) {
            post(.lost(wire: wire.number, end: end), after: Int64(dice.roll(0...12_000)) * 1_000_000)
        }
    }
}
