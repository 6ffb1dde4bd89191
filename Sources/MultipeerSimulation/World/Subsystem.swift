import MultipeerCore

/// A part of a world, with access to the whole.
protocol Subsystem: AnyObject {
    var world: World { get }
}

extension World: Subsystem {
    var world: World { self }
}

extension Subsystem {
    var now: Int64 { world.now }
    var cap: Int { world.cap }
    var nodes: [Node] { world.nodes }
    var random: SeededRandom {
        get { world.random }
        set { world.random = newValue }
    }
    var network: ConnectionNetwork { world.subsystems.network }
    var datagrams: DatagramNetwork { world.subsystems.datagrams }
    var sessions: SessionRunner { world.subsystems.sessions }
    var applications: Applications { world.subsystems.applications }
    var channels: ChannelTraffic { world.subsystems.channels }
    var invitations: InvitationTraffic { world.subsystems.invitations }
    var byzantinePeers: ByzantinePeers { world.subsystems.byzantinePeers }
    var observer: Observer { world.subsystems.observer }

    /// The invariant that was broken, if any: nothing goes on then.
    var failure: InvariantViolation? { observer.failure }

    func post(_ event: SimulationEvent, after delay: Int64) {
        world.schedule.post(event, at: now + delay)
    }

    func fail(_ invariant: Invariant, _ detail: @autoclosure () -> String) {
        observer.found(invariant, detail())
    }

    func say(_ text: @autoclosure () -> String) { observer.trace.say(now - World.start, text()) }

    /// Returns the time of the node's clock.
    func moment(_ node: Node) -> Moment { Moment(nanoseconds: now + node.host.offset) }

    func settle(_ node: Node) { sessions.run(node) }

    func trouble(_ node: Int) { observer.noteTrouble(node) }

    func name(_ socket: SimulatedSocket) -> String {
        "connection \(socket.connection.number) (\(socket.connection.nodes[socket.end])-\(socket.remote))"
    }
}
