import MultipeerCore

/// A part of a world, and what it has of the whole.
protocol Part: AnyObject {
    var world: World { get }
}

extension World: Part {
    var world: World { self }
}

extension Part {
    var now: Int64 { world.now }
    var cap: Int { world.cap }
    var nodes: [Node] { world.nodes }
    var dice: Dice {
        get { world.dice }
        set { world.dice = newValue }
    }
    var network: ConnectionNetwork { world.parts.network }
    var datagrams: DatagramNetwork { world.parts.datagrams }
    var sessions: Sessions { world.parts.sessions }
    var applications: Applications { world.parts.applications }
    var channels: ChannelTraffic { world.parts.channels }
    var invitations: Invitations { world.parts.invitations }
    var liars: Liars { world.parts.liars }
    var observer: Observer { world.parts.observer }

    /// What has broken, if anything: nothing goes on then.
    var failure: Failure? { observer.failure }

    func post(_ happening: Happening, after delay: Int64) {
        world.agenda.post(happening, at: now + delay)
    }

    func fail(_ invariant: Invariant, _ detail: @autoclosure () -> String) {
        observer.found(invariant, detail())
    }

    func say(_ text: @autoclosure () -> String) { observer.trace.say(now - World.start, text()) }

    /// What the node's clock shows.
    func moment(_ node: Node) -> Moment { Moment(nanoseconds: now + node.host.offset) }

    func settle(_ node: Node) { sessions.run(node) }

    func trouble(_ node: Int) { observer.noteTrouble(node) }

    func name(_ socket: Socket) -> String {
        "wire \(socket.wire.number) (\(socket.wire.nodes[socket.end])-\(socket.remote))"
    }
}
