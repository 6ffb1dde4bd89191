extension Scenario {
    /// Returns a smaller scenario that breaks the same invariant: fewer peers, fewer steps, shorter. Runs at most
    /// `attempts` times.
    package func shrunk(breaking invariant: Invariant, attempts: Int = 400) -> Scenario {
        var best = self
        var left = attempts
        func breaks(_ candidate: Scenario) -> Bool {
            guard left > 0 else { return false }
            left -= 1
            return ScenarioRun.run(candidate).failure?.invariant == invariant
        }
        var isSmaller = true
        while isSmaller, left > 0 {
            isSmaller = false
            for candidate in best.smaller() where breaks(candidate) {
                best = candidate
                isSmaller = true
                break
            }
        }
        return best
    }

    /// Returns scenarios that are a little smaller, the boldest reductions first.
    private func smaller() -> [Scenario] {
        var all: [Scenario] = []
        for size in [steps.count / 2, steps.count / 4, steps.count / 8] where size > 1 {
            for start in stride(from: 0, to: steps.count, by: size) {
                var one = self
                one.steps.removeSubrange(start..<min(steps.count, start + size))
                all.append(one)
            }
        }
        for peer in peers.indices.reversed() where peers.count > 2 { all.append(without(peer)) }
        for index in steps.indices.reversed() {
            var one = self
            one.steps.remove(at: index)
            all.append(one)
        }
        for index in firewallRules.indices {
            var one = self
            one.firewallRules.remove(at: index)
            all.append(one)
        }
        return all + simpler()
    }

    private func simpler() -> [Scenario] {
        var all: [Scenario] = []
        let last = (steps.map(\.moment).max() ?? 0) + 1_000
        if mode == .liveness, last < end - 500 {
            var one = self
            one.end = last
            all.append(one)
        }
        if conditions != .calm {
            var one = self
            one.conditions = .calm
            all.append(one)
        }
        for index in peers.indices where peers[index].strayAddresses > 0 || peers[index].credit != 65_536 {
            var one = self
            one.peers[index].strayAddresses = 0
            one.peers[index].credit = 65_536
            all.append(one)
        }
        for index in peers.indices where peers[index].isKeyed {
            var one = self
            one.peers[index].isKeyed = false
            all.append(one)
        }
        for index in peers.indices where peers[index].datagrams != .none {
            var one = self
            one.peers[index].datagrams = .none
            all.append(one)
        }
        return all + lighter()
    }

    /// Returns the same with connections without a rate limit, more room, and less to send.
    private func lighter() -> [Scenario] {
        var all: [Scenario] = []
        let plain = Peer()
        for index in peers.indices {
            let peer = peers[index]
            guard peer.rate != nil || peer.window != plain.window || peer.memory != plain.memory else {
                continue
            }
            var one = self
            one.peers[index].rate = nil
            one.peers[index].window = plain.window
            one.peers[index].memory = plain.memory
            all.append(one)
        }
        for index in steps.indices {
            guard case .transfer(let peer, var transfer) = steps[index].action, transfer.bytes > 1 else {
                continue
            }
            transfer.bytes /= 2
            var one = self
            one.steps[index].action = .transfer(peer, transfer)
            all.append(one)
        }
        return all
    }

    private func without(_ gone: Int) -> Scenario {
        var one = self
        one.peers.remove(at: gone)
        func new(_ old: Int) -> Int? { old == gone ? nil : old > gone ? old - 1 : old }
        for index in one.peers.indices {
            guard case .twin(let other) = one.peers[index].role else { continue }
            one.peers[index].role = new(other).map { .twin($0) } ?? .honest
        }
        one.firewallRules = firewallRules.compactMap { rule in
            guard let from = new(rule.from), let to = new(rule.to) else { return nil }
            return FirewallRule(from: from, to: to, isSilent: rule.isSilent)
        }
        one.steps = steps.compactMap { step in
            step.action.renumbered(new).map { Step(moment: step.moment, action: $0) }
        }
        return one
    }
}
