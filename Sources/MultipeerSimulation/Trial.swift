import MultipeerMesh

/// One run of a scenario, and what came of it.
package struct Trial {
    package struct Verdict: Sendable {
        package let failure: Failure?
        /// Of everything that happened: equal for two runs of one scenario.
        package let hash: UInt64
        package let events: Int
        package let links: Int
        package let messages: Int
        package let entries: Int
        package let evictions: Int
    }

    private let scenario: Scenario
    private let world: World

    /// How long after the faults everything is at rest, and how long it then has to stay so.
    static let rest = 15_000
    static let stillness = 20_000
    /// How long a join takes in calm, until everybody is linked with everybody.
    static let joining = 12_000

    package static func run(
        _ scenario: Scenario, tracing listener: (@Sendable (String) -> Void)? = nil
    ) -> Verdict {
        let trial = Trial(scenario, listener)
        trial.run()
        defer { trial.world.dismantle() }
        let counts = trial.world.counts
        return Verdict(
            failure: trial.world.failure, hash: trial.world.trace.hash, events: counts.events,
            links: counts.links,
            messages: counts.messages, entries: counts.entries, evictions: counts.evictions)
    }

    private init(_ scenario: Scenario, _ listener: (@Sendable (String) -> Void)?) {
        self.scenario = scenario
        world = World(seed: scenario.seed, cap: scenario.cap, weather: scenario.weather)
        world.trace.listener = listener
        for (index, peer) in scenario.peers.enumerated() { world.add(peer, named: "p\(index)") }
        for door in scenario.doors {
            world.paths.setDoor(door.from, door.to, door.isSilent ? .silent : .refusing)
        }
        world.post(.look, after: 0)
        for (number, step) in scenario.steps.enumerated() {
            world.post(.step(number), after: Int64(step.moment) * 1_000_000)
        }
    }

    private func run() {
        run(until: scenario.end)
        guard scenario.mode == .liveness, world.failure == nil else { return }
        world.calm()
        run(until: scenario.end + Trial.rest)
        guard world.failure == nil else { return }
        let rest = Rest(world, scenario)
        rest.check()
        guard world.failure == nil else { return }
        let (before, sendings) = (rest.picture(), rest.sendings())
        run(until: scenario.end + Trial.rest + Trial.stillness)
        guard world.failure == nil else { return }
        rest.check()
        rest.compare(before)
        rest.compare(sendings)
        guard world.failure == nil else { return }
        let pairs = rest.join()
        guard !pairs.isEmpty else { return crowd(rest) }
        run(until: scenario.end + Trial.rest + Trial.stillness + Trial.joining)
        if world.failure == nil { rest.checkJoined(pairs) }
    }

    /// Whoever does not fit tries to come in.
    private func crowd(_ rest: Rest) {
        guard rest.crowd() else { return }
        let before = rest.picture()
        run(until: scenario.end + Trial.rest + Trial.stillness + Trial.joining)
        if world.failure == nil { rest.checkRefused(before) }
    }

    private func run(until milliseconds: Int) {
        world.run(until: World.start + Int64(milliseconds) * 1_000_000) { act(scenario.steps[$0].action) }
    }

    private func act(_ action: Scenario.Action) {
        if action.disturbs { world.disturbance = world.now }
        for peer in action.peers where peer >= world.nodes.count { return }
        let nodes = world.nodes
        switch action {
        case .join(let one, let other, let isAddressed):
            world.join(one, other, joinsMesh: true, isAddressed: isAddressed)
        case .direct(let one, let other): world.join(one, other, joinsMesh: false, isAddressed: true)
        case .cancel(let one, let other): world.cancel(nodes[one], nodes[other].uid)
        case .goodbye(let one):
            world.excuse(one)
            world.disconnect(nodes[one])
        case .crash(let one, let isSilent):
            world.excuse(one)
            world.crash(nodes[one], isSilent: isSilent)
        case .start(let one, let newPort):
            if newPort, !nodes[one].isUp { nodes[one].port = nodes[one].port == 50_000 ? 50_002 : 50_000 }
            world.start(nodes[one])
        case .pause(let one, let time):
            world.excuse(one)
            world.pause(nodes[one])
            world.post(.resume(node: one, life: nodes[one].life), after: Int64(time) * 1_000_000)
        case .jump(let one, let time):
            world.excuse(one)
            world.jump(nodes[one], by: Int64(time) * 1_000_000)
        case .slow(let one, let time):
            guard nodes[one].isUp else { return }
            nodes[one].isSlow = true
            world.post(.take(node: one, life: nodes[one].life), after: Int64(time) * 1_000_000)
        case .cut(let one, let other):
            world.excuse(one)
            world.excuse(other)
            world.cut(one, other)
        case .split(let near, let isOneSided, let time):
            for index in nodes.indices { world.excuse(index) }
            world.split(near, isOneSided: isOneSided, for: Int64(time) * 1_000_000)
        case .burst(let one, let messages): burst(nodes[one], messages)
        case .lie(let one, let lie, let time):
            let end = world.now + Int64(time) * 1_000_000
            world.beginLying(nodes[one], Liar.Lie(rawValue: lie) ?? .everything, until: end)
        }
    }

    private func burst(_ node: Node, _ messages: Int) {
        guard node.isRunning else { return }
        for socket in node.links { world.chat(node, socket, messages: messages, longest: 400) }
        world.settle(node)
    }
}

extension World {
    /// Ends every fault that goes on.
    func calm() {
        say("the faults are over")
        isCalm = true
        for number in partitions.indices { heal(number) }
        for node in nodes {
            if node.isPaused { resume(node) }
            if node.isSlow { take(node, node.life) }
            node.liar = nil
        }
    }
}
