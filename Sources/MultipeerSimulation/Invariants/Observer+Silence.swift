// MARK: idle links and dead links

extension Observer {
    /// A link on which nothing comes has ended by then: the idle timeout, and a little more.
    private static let noticed: Int64 = 11_000_000_000
    /// How long a peer that was probed has to answer, whatever the clock does. A little less.
    private static let answer: Int64 = 2_900_000_000
    /// The same for a peer that was probed because another connection to it existed.
    private static let probeAnswer: Int64 = 900_000_000
    /// The idle timeout of a link where no clock jumps. A little less.
    private static let death: Int64 = 9_900_000_000
    /// How long a clock jump, or a stop of the process, has effects.
    private static let recovery: Int64 = 15_000_000_000
    /// The same for the network, until its retransmissions have gone out.
    static let calming: Int64 = 6_000_000_000

    private static let glance: Int64 = 500_000_000

    /// Checks at intervals that a running peer keeps no link on which nothing comes.
    func look() {
        post(.look, after: Observer.glance)
        for node in nodes where node.isRunning && now - node.host.disturbances[1] > Observer.recovery {
            for socket in node.links {
                guard let linkState = socket.linkState else { continue }
                datagrams.watchPath(socket, linkState)
                let silence = now - max(socket.heardAt, linkState.since)
                guard silence > Observer.noticed else { continue }
                return fail(.silence, "\(name(socket)) received nothing for \(silence / 1_000_000) ms")
            }
        }
    }

    /// Checks that a link that ended as dead really is dead.
    func watchDeath(_ socket: SimulatedSocket, _ linkState: LinkState, _ node: Node) {
        let grace = isProbed(socket, node) ? Observer.probeAnswer : Observer.answer
        // By its own clock: one that jumps by less than a sleep meanwhile makes the grace shorter. [live.resume]
        let awake = now + node.host.offset - node.host.wokeAt
        if awake < grace, linkState.since < node.host.sleptUntil {
            return fail(.alive, "\(name(socket)) timed out \(awake / 1_000_000) ms after a sleep")
        }
        guard now - node.host.disturbances[0] > Observer.recovery else { return }
        let least = now - node.host.disturbances[1] > Observer.recovery ? Observer.death : Observer.answer
        let silence = now - max(socket.heardAt, linkState.since)
        if silence >= least { return }
        // So the peer must have failed to answer a probe.
        if let far = socket.connection.sockets[1 - socket.end], far.linkState != nil, socket.remote >= 0 {
            let isWhole = !socket.connection.isDead && network.reachability.isWhole(node.index, socket.remote)
            guard isWhole, nodes[socket.remote].isRunning, now - disturbance > Observer.calming else {
                return
            }
            fail(.alive, "\(name(socket)) timed out after \(silence / 1_000_000) ms, but works")
        }
    }
}

extension Observer {
    /// Returns whether another connection to the same peer exists, or has existed since the sleep, so that the link may
    /// have been probed because of it: a probe has a timeout of its own.
    private func isProbed(_ socket: SimulatedSocket, _ node: Node) -> Bool {
        node.sockets.values.contains { $0 !== socket && $0.remote == socket.remote }
            || node.closedTo[socket.remote, default: .min] >= node.host.sleptUntil
    }
}

extension Node {
    /// Records that the clock jumped or the process was stopped: what the node takes for idle time means nothing for a
    /// while.
    func disturb(at moment: Int64) {
        host.disturbances = [host.disturbances[1], moment]
    }
}
