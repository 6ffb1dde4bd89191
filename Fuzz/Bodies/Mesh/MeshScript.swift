import MultipeerSecurity
import MultipeerSimulation

extension FuzzBody {
    /// A script of what two to five peers, the network and one Byzantine peer do: joins, cuts, partitions, restarts, lies and time.
    /// The simulation asserts every invariant of a mesh while it runs, and, when the first bit says so, at rest.
    package static let mesh = FuzzBody("mesh") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let verdict = ScenarioRun.run(MeshScript(&input).scenario)
        if let failure = verdict.failure { throw BrokenPromise(description: "\(failure)") }
    }
}

/// A scenario for the simulation, read out of an input.
///
/// One byte encodes its mode, the conditions and the cap. One is the number of peers, two bytes describe each, and the rest are
/// steps of four bytes: how much later, what, and which peers.
struct MeshScript {
    private(set) var scenario: Scenario
    private var moment = 0

    /// More steps and more time make an input slower and not better.
    private static let stepLimit = 40
    private static let longest = 45_000

    init(_ input: inout InputReader) {
        let how = input.byte()
        let count = 2 + Int(input.byte() % 4)
        scenario = Scenario(
            seed: UInt64(input.byte()), mode: how & 1 == 0 ? .liveness : .safety,
            cap: how >> 3 & 1 == 0 ? 8 : 2 + Int(how >> 4 & 3),
            conditions: [.calm, .fair, .fair, .wild][Int(how >> 1 & 3)], peers: [], end: 0)
        for number in 0..<count { addPeer(number, &input) }
        if how >> 6 & 1 == 1 { addDoor(&input) }
        while !input.isAtEnd, scenario.steps.count < Self.stepLimit, moment < Self.longest {
            addStep(&input)
        }
        scenario.end = moment + 1_000
    }

    private mutating func addPeer(_ number: Int, _ input: inout InputReader) {
        let (kind, rank) = (input.byte(), input.byte())
        var peer = Scenario.Peer()
        peer.rank = Int(rank)
        switch kind & 7 {
        case 5: peer.preference = .required
        case 6, 7: peer.preference = .none
        default: break
        }
        peer.hasIdentity = kind >> 3 & 3 == 3 && peer.preference != .none
        peer.credit = kind >> 5 & 1 == 0 ? 65_536 : 4_096
        // One Byzantine peer or one twin: with more of them little can be promised.
        let isOrdinary = scenario.peers.allSatisfy { $0.role == .honest }
        if kind >> 6 == 3, isOrdinary, number > 0 { peer.role = rank & 1 == 0 ? .byzantine : .twin(0) }
        scenario.peers.append(peer)
    }

    private mutating func addDoor(_ input: inout InputReader) {
        let which = input.byte()
        let (from, to) = pair(which)
        scenario.firewallRules.append(.init(from: from, to: to, isSilent: which & 128 != 0))
    }

    private mutating func addStep(_ input: inout InputReader) {
        let later = Int(input.byte())
        moment += later * later / 8
        let what = input.byte()
        let (one, other) = pair(input.byte())
        let length = 100 + 80 * Int(input.byte())
        let bit = what >> 7 == 1
        let action: Scenario.Action
        switch what & 15 {
        case 0, 1, 2: action = .join(one, other, isAddressed: bit)
        case 3: action = .direct(one, other)
        case 4: action = .cancel(one, other)
        case 5: action = .goodbye(one)
        case 6: action = .crash(one, isSilent: bit)
        case 7: action = .start(one, newPort: bit)
        case 8: action = .pause(one, milliseconds: length)
        case 9: action = .jump(one, milliseconds: length << Int(what >> 4 & 7) * 2)
        case 10: action = .slow(one, milliseconds: length)
        case 11, 12: action = .cut(one, other)
        case 13:
            action = .split(near: 1 << UInt32(one) | UInt32(what >> 4), isOneSided: bit, milliseconds: length)
        case 14: action = .burst(one, messages: length / 64)
        default: action = lie(by: one, what >> 4, for: length)
        }
        scenario.steps.append(.init(moment: moment, action: action))
    }

    private func lie(by one: Int, _ choice: UInt8, for length: Int) -> Scenario.Action {
        guard let byzantine = scenario.peers.firstIndex(where: { $0.role == .byzantine }) else {
            return .burst(one, messages: Int(choice))
        }
        let lies = ["inventions", "slander", "everything"]
        return .lie(byzantine, lies[Int(choice) % lies.count], milliseconds: length)
    }

    /// Returns two different peers.
    private func pair(_ choice: UInt8) -> (Int, Int) {
        let count = scenario.peers.count
        let one = Int(choice) % count
        return (one, (one + 1 + Int(choice) / count % (count - 1)) % count)
    }
}
