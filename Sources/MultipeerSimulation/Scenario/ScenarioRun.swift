import MultipeerMesh

/// One run of a scenario, and what came of it.
package struct ScenarioRun {
    package struct Summary: Sendable {
        package let failure: InvariantViolation?
        /// The hash of everything that happened: equal for two runs of one scenario.
        package let hash: UInt64
        package let counts: RunStatistics
    }

    private let scenario: Scenario
    private let world: World

    /// The time from the end of the faults until the network is quiescent, and how long it then has to stay so.
    static let rest = 15_000
    static let stillness = 20_000
    /// The time until members that have lost each other are in one mesh again: the pause after FULL, and a handshake.
    static let reunion = 12_000
    /// The time that a join takes without faults, until every peer is linked with every other.
    static let joining = 12_000
    /// The time that both ends of a link may take for its code without faults.
    static let asking = 8_000

    package static func run(
        _ scenario: Scenario, tracing listener: (@Sendable (String) -> Void)? = nil
    ) -> Summary {
        let trial = ScenarioRun(scenario, listener)
        trial.run()
        defer { trial.world.dismantle() }
        return Summary(
            failure: trial.world.failure, hash: trial.world.observer.trace.hash,
            counts: trial.world.observer.counts)
    }

    private init(_ scenario: Scenario, _ listener: (@Sendable (String) -> Void)?) {
        self.scenario = scenario
        world = World(seed: scenario.seed, cap: scenario.cap, conditions: scenario.conditions)
        world.observer.trace.listener = listener
        world.network.drawSystems(scenario.seed)
        for (index, peer) in scenario.peers.enumerated() { world.add(peer, named: "p\(index)") }
        for firewall in scenario.firewallRules {
            world.network.reachability.setFirewall(
                firewall.from, firewall.to, firewall.isSilent ? .silent : .refusing)
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
        let rest = Quiescence(world, scenario)
        let separated = rest.separated()
        run(until: scenario.end + ScenarioRun.reunion)
        guard world.failure == nil else { return }
        rest.checkReunions(separated)
        var end = complete(rest, scenario.end + ScenarioRun.rest)
        guard world.failure == nil else { return }
        rest.check()
        guard world.failure == nil else { return }
        let (before, sendProgress) = (rest.snapshot(), rest.sendProgress())
        end += ScenarioRun.stillness
        run(until: end)
        guard world.failure == nil else { return }
        rest.check()
        rest.compare(before)
        rest.compare(sendProgress)
        rest.checkTraffic(since: sendProgress)
        rest.checkPaths()
        guard world.failure == nil else { return }
        if let asked = rest.askForCode() {
            run(until: end + ScenarioRun.asking)
            rest.checkCode(asked)
            guard world.failure == nil else { return }
        }
        end += ScenarioRun.asking + ScenarioRun.joining
        let pairs = rest.join()
        guard !pairs.isEmpty else { return crowd(rest, until: end) }
        _ = complete(rest, end)
        if world.failure == nil { rest.checkJoined(pairs) }
    }

    /// Lets peers that do not fit try to join.
    private func crowd(_ rest: Quiescence, until end: Int) {
        guard rest.crowd() else { return }
        let before = rest.snapshot()
        run(until: end)
        if world.failure == nil { rest.checkRefused(before) }
    }

    /// Runs until `end`, or until members that never met, and are not dialled for that reason, had time to link. Returns the
    /// end. Spec 15.2.
    private func complete(_ rest: Quiescence, _ end: Int) -> Int {
        run(until: end)
        guard world.failure == nil, let pause = rest.introducedPause() else { return end }
        let late = end + Int(pause.wholeNanoseconds / 1_000_000)
        run(until: late)
        return late
    }

    private func run(until milliseconds: Int) {
        world.run(until: World.start + Int64(milliseconds) * 1_000_000) { act(scenario.steps[$0].action) }
    }

    private func act(_ action: Scenario.Action) {
        if action.disturbs { world.observer.disturbance = world.now }
        for peer in action.peers where peer >= world.nodes.count { return }
        let nodes = world.nodes
        switch action {
        case .join(let one, let other, let isAddressed):
            world.applications.join(one, other, joinsMesh: true, isAddressed: isAddressed)
        case .direct(let one, let other):
            world.applications.join(one, other, joinsMesh: false, isAddressed: true)
        case .invite(let one, let other, let time, let answer):
            world.invitations.invite(one, other, within: time, answer)
        case .cancel(let one, let other): world.applications.cancel(nodes[one], nodes[other].uid)
        case .goodbye(let one):
            world.observer.excuse(one)
            world.applications.disconnect(nodes[one])
        case .crash(let one, let isSilent):
            world.observer.excuse(one)
            world.crash(nodes[one], isSilent: isSilent)
        case .start(let one, let newPort):
            if newPort, !nodes[one].process.isUp {
                nodes[one].host.port = nodes[one].host.port == 50_000 ? 50_002 : 50_000
            }
            world.start(nodes[one])
        case .pause(let one, let time):
            world.observer.excuse(one)
            world.pause(nodes[one])
            world.post(.resume(node: one, life: nodes[one].process.life), after: Int64(time) * 1_000_000)
        case .jump(let one, let time):
            world.observer.excuse(one)
            world.jump(nodes[one], by: Int64(time) * 1_000_000)
        case .slow(let one, let time):
            guard nodes[one].process.isUp else { return }
            nodes[one].application.isSlow = true
            world.post(.take(node: one, life: nodes[one].process.life), after: Int64(time) * 1_000_000)
        case .cut, .snap, .split: actOnNetwork(action)
        case .burst(let one, let messages): burst(nodes[one], messages)
        case .transfer(let one, let transfer): world.channels.open(transfer, of: nodes[one])
        case .code(let one, let time): world.applications.requestCode(of: nodes[one], within: time)
        case .flush(let one): world.applications.flushMessages(of: nodes[one])
        case .deafen(let one, let time):
            nodes[one].host.deafUntil = max(nodes[one].host.deafUntil, world.now + Int64(time) * 1_000_000)
        case .silence(let one, let time):
            world.say("no UDP of \(one) gets through for \(time) ms")
            nodes[one].host.silentUntil = max(
                nodes[one].host.silentUntil, world.now + Int64(time) * 1_000_000)
        case .thin(let one, let percent, let time):
            world.say("\(percent) % of the UDP of \(one) is lost for \(time) ms")
            nodes[one].host.loss = NodeHost.Loss(percent: percent, until: world.now + Int64(time) * 1_000_000)
        case .lie(let one, let lie, let time):
            let end = world.now + Int64(time) * 1_000_000
            world.byzantinePeers.beginLying(
                nodes[one], ByzantinePeer.Behaviour(rawValue: lie) ?? .everything, until: end)
        }
    }

    private func actOnNetwork(_ action: Scenario.Action) {
        switch action {
        case .cut(let one, let other):
            for index in [one, other] { world.observer.excuse(index) }
            world.network.cut(one, other)
        case .snap(let one, let other): world.network.fragile.insert([one, other])
        case .split(let near, let isOneSided, let time):
            for index in world.nodes.indices { world.observer.excuse(index) }
            world.network.split(near, isOneSided: isOneSided, for: Int64(time) * 1_000_000)
        default: break
        }
    }

    private func burst(_ node: Node, _ messages: Int) {
        guard node.isRunning else { return }
        for socket in node.links { world.applications.chat(node, socket, messages: messages, longest: 400) }
        world.settle(node)
    }
}

extension World {
    /// Ends every fault that is still active.
    func calm() {
        say("the faults are over")
        datagrams.isCalm = true
        for number in network.partitions.indices { network.heal(number) }
        network.fragile = []
        for node in nodes {
            if node.process.isPaused { resume(node) }
            if node.application.isSlow { applications.take(node, node.process.life) }
            node.byzantine = nil
            if node.profile.datagrams != .deaf { node.host.deafUntil = 0 }
            node.host.silentUntil = 0
            node.host.loss = nil
        }
    }
}
