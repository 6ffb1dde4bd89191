import MultipeerCore
import MultipeerHandshake
import MultipeerLink

extension FuzzBody {
    /// Reports of up to eight links about the long messages that they receive, and time: which link may reassemble one,
    /// and which is ended because it makes others wait. Also how much all of them hold, and which gives up something.
    package static let reassemblyTurns = FuzzBody("reassembly-turns") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        var stage = TurnStage()
        var steps = 0
        while !input.isAtEnd, steps < 400 {
            steps += 1
            try stage.step(&input)
        }
        try stage.settle()
    }
}

private struct TurnStage {
    private var turns = ReassemblyTurns(messageCredit: 65_536)
    private var now = Moment(nanoseconds: 1_000_000_000)
    /// The last report of each link; those that want a turn, in the order in which they began to.
    private var reports: [ConnectionID: ReassemblyTurns.Report] = [:]
    private var wanting: [ConnectionID] = []
    private var held: [Int] = []

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        let id = ConnectionID(rawValue: UInt32(operation >> 5))
        switch operation & 7 {
        case 0...3:
            let choice = input.byte()
            let brought = (reports[id]?.brought ?? 0) + Int(choice >> 2) * 2_000
            report(id, .init(wants: choice & 1 == 1, brought: brought, isHeldUp: choice & 3 == 3))
        case 4: remove(id)
        case 5: try pass(.milliseconds(Int(input.byte()) * 50))
        case 6: try pass(ReassemblyTurns.timeout)
        default: try hold(Int(input.byte()))
        }
        try promise(turns.holder == wanting.first, "the first link that needs the turn has it")
        try promise((turns.deadline == nil) == (wanting.count < 2), "a turn ends only if others wait")
    }

    private mutating func report(_ id: ConnectionID, _ report: ReassemblyTurns.Report) {
        turns.report(id, report, at: now)
        reports[id] = report
        if !report.wants { wanting.removeAll { $0 == id } }
        if report.wants, !wanting.contains(id) { wanting.append(id) }
    }

    private mutating func remove(_ id: ConnectionID) {
        turns.remove(id, at: now)
        reports[id] = nil
        wanting.removeAll { $0 == id }
    }

    private mutating func pass(_ duration: Duration) throws(BrokenPromise) {
        now = now + duration
        let due = turns.deadline.map { $0 <= now } ?? false
        let slow = turns.advance(to: now)
        try promise(
            slow == nil || due && slow == wanting.first, "only the holder of the turn can be too slow")
        try promise(
            slow.map { reports[$0]?.isHeldUp == true } != true, "a link that cannot continue is not too slow")
        try promise((turns.deadline ?? .distantFuture) > now, "the deadline advances with time")
        if let slow { remove(slow) }
    }

    private mutating func hold(_ bytes: Int) throws(BrokenPromise) {
        held = held.suffix(7) + [bytes]
        let memory = ReceiveMemory(limit: 1_000)
        let links = held.enumerated().map { (id: $0.offset, bytes: $0.element) }
        let given = memory.excess(links)
        try promise(
            (given == nil) == (held.reduce(0, +) <= 1_000),
            "a channel is stopped exactly when too much is held")
        if let given { try promise(held[given] == held.max(), "the link that holds most gives up") }
    }

    /// Checks that no link waits forever, whatever the others receive.
    mutating func settle() throws(BrokenPromise) {
        var rounds = 0
        while let holder = wanting.first {
            rounds += 1
            try promise(rounds < 100, "every link gets a turn")
            if wanting.count == 1 { return remove(holder) }
            report(holder, .init(wants: true, brought: reports[holder]?.brought ?? 0))
            try pass(ReassemblyTurns.timeout)
        }
    }
}
