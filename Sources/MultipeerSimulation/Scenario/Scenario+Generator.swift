import MultipeerSecurity

extension Scenario {
    /// Returns the scenario of a seed.
    package static func drawn(_ seed: UInt64, _ mode: Mode) -> Scenario {
        var draw = Generator(seed, mode)
        return draw.scenario()
    }

    struct Generator {
        var random: SeededRandom
        /// The random source of what applications do with their links: a separate one, so that the rest of a scenario
        /// does not depend on it.
        var traffic: SeededRandom
        /// That of who has a keyed uid.
        var keys: SeededRandom
        var made: Scenario

        init(_ seed: UInt64, _ mode: Mode) {
            random = SeededRandom(seed &* 2 &+ (mode == .safety ? 1 : 0))
            traffic = SeededRandom(~(seed &* 2 &+ (mode == .safety ? 1 : 0)))
            keys = SeededRandom((seed &* 2 &+ (mode == .safety ? 1 : 0)) ^ 0x6B65_7965_6400_0000)
            made = Scenario(
                seed: random.next(), mode: mode, cap: 8, conditions: .fair, peers: [], end: 0)
        }
    }
}

extension Scenario.Generator {
    private enum Theme: CaseIterable {
        case storm, eighth, merging, firewalls, preferences, plain, twins, byzantine, churn, crossing, room,
            outage
    }

    mutating func scenario() -> Scenario {
        made.conditions = random.pick([.calm, .fair, .fair, .wild])
        let theme = random.pick(Theme.allCases + [.storm, .churn])
        made.end = random.uniform(20_000...40_000)
        if random.chance(oneIn: 6) { made.cap = random.uniform(2...10) }
        switch theme {
        case .storm: begin(random.uniform(2...8)); faults(random.uniform(3...12))
        case .eighth: eighth()
        case .merging: merging()
        case .firewalls: begin(random.uniform(3...8)); firewalls(); faults(random.uniform(0...6))
        case .preferences: begin(random.uniform(2...8)); preferences(); faults(random.uniform(0...6))
        case .plain: begin(random.uniform(2...8)); plain(); faults(random.uniform(0...6))
        case .twins: begin(random.uniform(3...7)); twins(); faults(random.uniform(0...4))
        case .byzantine: byzantine()
        case .churn: begin(random.uniform(3...9)); churn(random.uniform(2...8))
        case .crossing: begin(random.uniform(2...6)); crossing(); faults(random.uniform(0...6))
        case .room: room()
        case .outage: begin(random.uniform(2...8)); outage()
        }
        if theme != .byzantine, made.peers.count > 1, random.chance(oneIn: 3) { invitations() }
        if made.mode == .liveness { joinAtLast() }
        drawTraffic()
        if random.chance(oneIn: 5) { datagrams() }
        drawKeys()
        made.steps = made.steps.enumerated().sorted {
            ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset)
        }.map(\.element)
        return made
    }

    mutating func at(_ moment: Int, _ action: Scenario.Action) {
        made.steps.append(.init(moment: min(max(0, moment), made.end - 1), action: action))
    }

    /// Adds `count` peers, whose ids are in no order, all of which join within seconds.
    private mutating func begin(_ count: Int, within window: Int = 4_000) {
        people(count)
        joinAll(Array(0..<count), within: window)
    }

    private mutating func people(_ count: Int) {
        let ranks = random.shuffled(Array(1...count))
        for rank in ranks {
            var peer = Scenario.Peer(rank: rank)
            peer.strayAddresses = random.chance(oneIn: 5) ? random.uniform(1...2) : 0
            peer.credit = random.pick([4_096, 16_384, 65_536, 4_194_304])
            made.peers.append(peer)
        }
    }

    /// Draws a chain, a star or a tree of joins.
    private mutating func joinAll(_ members: [Int], within window: Int, from start: Int = 0) {
        guard members.count > 1 else { return }
        let order = random.shuffled(members)
        let shape = random.uniform(0...2)
        let isOrderly = random.chance(oneIn: 2)
        for place in 1..<order.count {
            let sponsor =
                shape == 0 ? order[place - 1] : shape == 1 ? order[0] : order[random.uniform(0...(place - 1))]
            let moment = isOrderly ? window * place / order.count : random.uniform(0...window)
            at(start + moment, .join(sponsor, order[place], isAddressed: random.chance(oneIn: 3)))
        }
    }

    private mutating func eighth() {
        made.cap = random.chance(oneIn: 3) ? random.uniform(3...6) : 8
        let core = made.cap - random.uniform(1...2)
        let late = random.uniform(2...4)
        people(max(1, core) + late)
        joinAll(Array(0..<max(1, core)), within: 3_000)
        let moment = random.uniform(6_000...10_000)
        for number in 0..<late {
            let sponsor = random.uniform(0...(max(1, core) - 1))
            at(
                moment + random.uniform(0...random.pick([20, 300, 2_000])),
                .join(sponsor, max(1, core) + number, isAddressed: false))
        }
        faults(random.uniform(0...4), from: moment)
    }

    private mutating func merging() {
        let (one, other) = (random.uniform(2...6), random.uniform(2...6))
        people(one + other)
        joinAll(Array(0..<one), within: 3_000)
        joinAll(Array(one..<(one + other)), within: 3_000)
        let moment = random.uniform(5_000...9_000)
        for _ in 0..<random.uniform(1...3) {
            at(
                moment + random.uniform(0...200),
                .join(
                    random.uniform(0...(one - 1)), one + random.uniform(0...(other - 1)), isAddressed: false))
        }
        faults(random.uniform(0...5), from: moment)
    }

    private mutating func firewalls() {
        let count = made.peers.count
        for _ in 0..<random.uniform(1...count) {
            let (from, to) = pair()
            let isSilent = random.chance(oneIn: 2)
            made.firewallRules.append(.init(from: from, to: to, isSilent: isSilent))
            if random.chance(oneIn: 2) {
                made.firewallRules.append(.init(from: to, to: from, isSilent: isSilent))
            }
        }
    }

    private mutating func preferences() {
        for index in made.peers.indices {
            made.peers[index].preference = random.pick([.optional, .optional, .required, .none])
            made.peers[index].hasIdentity = made.peers[index].preference != .none && random.chance(oneIn: 3)
        }
    }

    /// Lets some peers have the uid of their identity's key. A twin has a key of its own, which cannot have the same uid.
    private mutating func drawKeys() {
        let hasTwins = made.peers.contains { if case .twin = $0.role { true } else { false } }
        guard !hasTwins, !keys.chance(oneIn: 3) else { return }
        for index in made.peers.indices where made.peers[index].preference != .none && keys.chance(oneIn: 2) {
            (made.peers[index].hasIdentity, made.peers[index].isKeyed) = (true, true)
        }
    }

    private mutating func plain() {
        for index in made.peers.indices { made.peers[index].preference = .none }
    }

    private mutating func twins() {
        let count = made.peers.count
        made.peers[count - 1].role = .twin(random.uniform(0...(count - 2)))
    }

    private mutating func byzantine() {
        begin(random.uniform(4...8), within: 3_000)
        let byzantine = random.uniform(0...(made.peers.count - 1))
        made.peers[byzantine].role = .byzantine
        for index in made.peers.indices { made.peers[index].strayAddresses = 0 }
        let start = random.uniform(9_000...12_000)
        if random.chance(oneIn: 3) { plain() }
        let lie = random.pick(["inventions", "slander", "whispers", "impostor", "nonsense", "everything"])
        if random.chance(oneIn: 3) { firewalls() }
        at(start, .lie(byzantine, lie, milliseconds: random.uniform(3_000...10_000)))
        if random.chance(oneIn: 3) { faults(random.uniform(1...3), from: start) }
    }

    private mutating func crossing() {
        for _ in 0..<random.uniform(2...10) {
            let (one, other) = pair()
            let moment = random.uniform(0...8_000)
            if random.chance(oneIn: 3) { at(max(0, moment - 100), .snap(one, other)) }
            switch random.uniform(0...4) {
            case 0: at(moment, .direct(one, other))
            case 1:
                at(moment, .join(one, other, isAddressed: true))
                at(moment + random.uniform(0...800), .cancel(one, other))
            default: at(moment, .join(one, other, isAddressed: random.chance(oneIn: 2)))
            }
        }
    }

    private mutating func churn(_ count: Int) {
        for _ in 0..<count {
            let moment = random.uniform(4_000...(made.end - 4_000))
            let one = random.uniform(0...(made.peers.count - 1))
            restart(one, at: moment)
        }
        faults(random.uniform(0...3))
    }

    private mutating func restart(_ one: Int, at moment: Int) {
        let gap = random.pick([1, 50, 500, 3_000, 9_000])
        if random.chance(oneIn: 3) {
            at(moment, .goodbye(one))
        } else {
            at(moment, .crash(one, isSilent: random.chance(oneIn: 2)))
            at(moment + gap, .start(one, newPort: random.chance(oneIn: 3)))
        }
        if made.peers.count > 1 { rejoin(one, at: moment + gap + random.uniform(10...4_000)) }
    }

    private mutating func rejoin(_ one: Int, at moment: Int) {
        var other = random.uniform(0...(made.peers.count - 2))
        if other >= one { other += 1 }
        at(moment, .join(one, other, isAddressed: random.chance(oneIn: 3)))
    }

    private mutating func pair() -> (Int, Int) {
        let one = random.uniform(0...(made.peers.count - 1))
        var other = random.uniform(0...(made.peers.count - 2))
        if other >= one { other += 1 }
        return (one, other)
    }

    private mutating func faults(_ count: Int, from start: Int = 1_000) {
        for _ in 0..<count { fault(at: random.uniform(start...max(start, made.end - 1_000))) }
    }

    private mutating func fault(at moment: Int) {
        let (one, other) = pair()
        switch random.uniform(0...13) {
        case 0, 1, 2:
            let all = UInt32(1) << UInt32(made.peers.count) - 1
            let near =
                random.chance(oneIn: 2)
                ? UInt32(1) << UInt32(one) : UInt32(truncatingIfNeeded: random.next()) & all
            let time = random.pick([300, 2_000, 6_000, 11_000, 14_000, 20_000])
            at(moment, .split(near: near, isOneSided: random.chance(oneIn: 3), milliseconds: time))
            if time > 8_000, near != 0, near != all {
                let inside = made.peers.indices.filter { near >> UInt32($0) & 1 == 1 }
                let outside = made.peers.indices.filter { near >> UInt32($0) & 1 == 0 }
                at(
                    moment + time + random.uniform(0...2_000),
                    .join(random.pick(inside), random.pick(outside), isAddressed: false))
            }
        case 3, 4, 5: at(moment, .cut(one, other))
        case 6: restart(one, at: moment)
        case 7, 8:
            at(moment, .pause(one, milliseconds: random.pick([200, 2_000, 6_000, 9_500, 11_000, 20_000])))
        case 9:
            let time = random.pick([2_000, 8_000, 12_000, 60_000, 3_600_000, 46_000_000, 90_000_000])
            // After more than a day all connection data have expired; an application that has them connects until its
            // attempt is over.
            let isLate = moment + 16_000 > made.end
            at(moment, .jump(one, milliseconds: isLate ? min(time, 46_000_000) : time))
        case 10: at(moment, .slow(one, milliseconds: random.uniform(1_000...12_000)))
        case 11: at(moment, .burst(one, messages: random.uniform(20...300)))
        case 12: at(moment, .join(one, other, isAddressed: random.chance(oneIn: 2)))
        default: at(moment, .direct(one, other))
        }
    }

    /// Cuts off one peer, or each from all others, until the faults are over, longer than any link lasts.
    private mutating func outage() {
        made.end = random.uniform(25_000...70_000)
        let moment = random.uniform(6_000...8_000)
        let all = Array(made.peers.indices)
        for index in random.chance(oneIn: 2) ? [random.pick(all)] : all {
            let start = moment + random.uniform(0...500)
            at(start, .split(near: 1 << UInt32(index), isOneSided: false, milliseconds: made.end))
        }
    }

    /// Lets all peers advertise, browse and invite the peers that they find.
    private mutating func room() {
        people(random.uniform(2...8))
        let window = random.pick([10, 300, 3_000])
        for one in made.peers.indices {
            for other in made.peers.indices where one != other && !random.chance(oneIn: 4) {
                at(random.uniform(0...window), .invite(one, other, 10_000, .accepts(random.uniform(0...50))))
            }
        }
        faults(random.uniform(0...3), from: 6_000)
    }

    /// Draws applications that found each other: one invites the other, or both do at about the same time.
    private mutating func invitations() {
        for _ in 0..<random.uniform(1...6) {
            let (one, other) = pair()
            let moment = random.uniform(0...max(1, made.end - 2_000))
            at(moment, .invite(one, other, random.pick([1_500, 5_000, 30_000]), answer()))
            if random.chance(oneIn: 2) {
                at(
                    moment + random.uniform(0...300),
                    .invite(other, one, random.pick([5_000, 30_000]), answer()))
            }
            if random.chance(oneIn: 6) { at(moment + random.uniform(0...2_000), .cancel(one, other)) }
        }
    }

    private mutating func answer() -> Scenario.Answer {
        switch random.uniform(0...9) {
        case 0: .never
        case 1: .declines(random.uniform(0...2_000))
        case 2: .accepts(random.uniform(0...6_000))
        default: .accepts(random.uniform(0...100))
        }
    }

    /// Draws datagrams: most peers take unreliable messages over UDP, which does not always get through to every peer.
    private mutating func datagrams() {
        for index in made.peers.indices where !random.chance(oneIn: 6) {
            made.peers[index].datagrams = random.chance(oneIn: 8) ? .deaf : .open
        }
        for _ in 0..<random.uniform(0...2) {
            let time = random.pick([1_000, 9_000, 17_000, 25_000])
            at(
                random.uniform(2_000...made.end),
                .deafen(random.uniform(0...(made.peers.count - 1)), milliseconds: time))
        }
        for _ in 0..<random.uniform(1...3) {
            let one = random.uniform(0...(made.peers.count - 1))
            let time = random.pick([2_500, 5_000, 16_000])
            let isThin = random.chance(oneIn: 2)
            at(
                random.uniform(4_000...made.end),
                isThin
                    ? .thin(one, percent: random.pick([30, 50, 70]), milliseconds: time)
                    : .silence(one, milliseconds: time))
        }
    }

    /// Lets some peers join when the faults are nearly over: they must succeed.
    private mutating func joinAtLast() {
        guard random.chance(oneIn: 2), made.peers.count > 1 else { return }
        for _ in 0..<random.uniform(1...2) {
            let (one, other) = pair()
            at(made.end - random.uniform(1...1_500), .join(one, other, isAddressed: random.chance(oneIn: 2)))
        }
    }
}
