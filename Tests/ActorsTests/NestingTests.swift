import MultipeerActors
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import TestSupport
import Testing

@Suite("Calls within calls", .computing)
struct NestingTests {
    private static let narrow = ActorLimits().with { ($0.calls, $0.nestedCalls) = (2, 1) }

    @Test("a nested call is sent when the limit of calls is reached, one at each depth")
    func besides() {
        var table = Table(bob: Self.narrow)
        for name in ["one", "two", "three"] { table.call(name) }
        #expect(table.executing.count == 2)
        table.call("within", depth: 2)
        table.call("after", depth: 2)
        #expect(table.executing.count == 3)
        table.call("deeper", depth: 4)
        #expect(table.executing.count == 4)
        // Each leaves its place to the next of its own: "within" and "deeper" to "after", "one" to "three".
        table.answer(at: 2)
        table.answer(at: 2)
        #expect(table.told == ["within: done", "deeper: done"])
        #expect(table.executing.count == 3)
        for _ in 0..<4 { table.answer() }
        #expect(table.told.count == 6)
    }

    @Test("the call that waited longest is sent first when there is room for all")
    func inOrder() {
        var table = Table(bob: Self.narrow)
        for name in ["one", "two"] { table.call(name) }
        table.call("within", depth: 1)
        table.call("three")
        table.call("four", depth: 1)
        table.answer()
        #expect(table.executing.map(\.number) == [2, 3, 4])
        table.answer()
        #expect(table.executing.map(\.number) == [3, 4, 5])
    }

    @Test("calls that go back and forth within each other never deadlock", arguments: 0..<8)
    func rally(_ depth: Int) {
        var rally = Rally(Self.narrow)
        for _ in 0..<20 {
            rally.begin(at: 0, depth)
            rally.begin(at: 1, depth)
        }
        rally.settle()
        #expect(rally.ended == Array(repeating: .answered(.done), count: 40))
        #expect(rally.underway == 0)
    }

    @Test("calls nested too deeply for a reserved place fail at once when there is no room")
    func tooDeep() {
        var rally = Rally(Self.narrow)
        for _ in 0..<20 { rally.begin(at: 0, 30) }
        rally.settle()
        #expect(rally.ended.count == 20)
        #expect(rally.ended.contains(.answered(.failure(.busy, type: "", text: ""))))
        #expect(rally.underway == 0)
        rally.begin(at: 0, 3)
        rally.settle()
        #expect(rally.ended.last == .answered(.done))
    }

    @Test(
        "calls that waited before the peer's hello, and are too deep to go on waiting, fail when it arrives")
    func heardLate() {
        var table = Table(bob: Self.narrow, linked: false)
        table.linkAnn()
        for name in ["one", "two"] { table.call(name) }
        for name in ["within", "within too"] { table.call(name, depth: 9) }
        table.linkBob()
        table.settle()
        #expect(table.executing.count == 3)
        #expect(table.told == ["within too: busy"])
    }

    @Test("a peer that did not mention nested calls receives them like all others")
    func olderPeer() {
        var table = Table(linked: false)
        table.linkAnn()
        let hello = Envelope.Hello(incarnation: 2, known: 1, calls: 1, bytes: 65_536, longest: 65_536)
        table.ann.receive(Envelope.hello(hello).bytes.span, from: table.bobsUID)
        _ = table.ann.takeActions()
        var sent: [Envelope?] = []
        for (depth, waiter) in zip([3, 9], ["one", "two"]) {
            let call = Envelope.Call(depth: UInt8(depth), place: .name("till"), target: "$s")
            let placed = try? table.ann.place(
                Envelope.call(call).bytes, to: table.bobsUID, waiter: waiter, deadline: nil, now: table.now)
            if let bytes = placed?.post { sent.append(try? Envelope(bytes.span)) }
        }
        #expect(sent == [.call(Envelope.Call(number: 1, place: .name("till"), target: "$s"))])
        table.ann.receive(Envelope.answer(1, .done).bytes.span, from: table.bobsUID)
        for case .send(let bytes, _, .call) in table.ann.takeActions() {
            sent.append(try? Envelope(bytes.span))
        }
        #expect(sent.last == .call(Envelope.Call(number: 2, place: .name("till"), target: "$s")))
    }

    @Test("each system of a peer states its own limit of nested calls, which is forgotten with it")
    func another() {
        var table = Table(bob: Self.narrow)
        table.replaceBob(incarnation: 9, limits: Self.narrow)
        for name in ["one", "two"] { table.call(name) }
        table.call("within", depth: 1)
        #expect(table.executing.count == 3)
        // An older system has taken its place.
        table.executing = []
        let hello = Envelope.Hello(incarnation: 10, known: 1, calls: 1, bytes: 65_536, longest: 65_536)
        table.ann.receive(Envelope.hello(hello).bytes.span, from: table.bobsUID)
        table.settle()
        table.call("three")
        table.call("within", depth: 1)
        #expect(table.executing.count == 1)
    }

    @Test("a peer's nested calls beyond its limit are refused")
    func flood() {
        var table = Table(bob: ActorLimits().with { ($0.calls, $0.nestedCalls) = (4, 2) })
        for number in 1...100 { table.send(CallNumber(number), depth: UInt8(1 + number % 40)) }
        // Twice what it may: four, and two at each of eight depths.
        #expect(table.executing.count == 40)
        // They take no quota from calls that are not nested.
        for number in 201...300 { table.send(CallNumber(number)) }
        #expect(table.executing.count == 48)
    }

    @Test("a limit of no nested calls is ignored")
    func none() {
        var table = Table(bob: Self.narrow)
        table.ann.receive(Envelope.nesting(0).bytes.span, from: table.bobsUID)
        #expect(table.ann.dropped == 1)
        for name in ["one", "two"] { table.call(name) }
        table.call("within", depth: 1)
        #expect(table.executing.count == 3)
    }
}

/// Two exchanges that call each other within calls; what they send arrives at once, and time stands still.
private struct Rally {
    typealias Machine = Exchange<Int, Int>

    /// The call that waits for a call: another one, which is executed at that side; none for the first of a chain.
    private struct Parent {
        let side: Int
        let call: IncomingCall
    }

    private var sides: [Machine]
    private let peers = [Table.peer(1), Table.peer(2)]
    private var parents: [Int: Parent] = [:]
    private var calls = 0
    /// How the first of each chain ended.
    private(set) var ended: [CallOutcome] = []

    init(_ limits: ActorLimits) {
        sides = [Machine(incarnation: 1, limits: limits), Machine(incarnation: 2, limits: limits)]
        let (first, second) = (sides[0].linkMade(to: peers[1]), sides[1].linkMade(to: peers[0]))
        sides[1].receive(first.span, from: peers[0].uid)
        sides[0].receive(second.span, from: peers[1].uid)
        settle()
    }

    var underway: Int { sides.reduce(0) { $0 + $1.ownCalls + $1.callsOfOthers } }

    /// Begins a call that calls back, and so on, that many times.
    mutating func begin(at side: Int, _ times: Int) {
        let outcome = call(at: side, times: times, depth: 0, for: nil)
        if let outcome { ended.append(outcome) }
    }

    /// Returns how it has failed, if it has.
    private mutating func call(at side: Int, times: Int, depth: Int, for parent: Parent?) -> CallOutcome? {
        calls += 1
        parents[calls] = parent
        let call = Envelope.Call(
            depth: UInt8(depth), place: .name("till"), target: "$s", arguments: [[UInt8(times)]])
        do throws(CallFault) {
            let placed = try sides[side].place(
                Envelope.call(call).bytes, to: peers[1 - side].uid, waiter: calls, deadline: nil,
                now: Moment(nanoseconds: 0))
            if let bytes = placed.post { sides[1 - side].receive(bytes.span, from: peers[side].uid) }
            return nil
        } catch {
            return .failed(error)
        }
    }

    mutating func settle() {
        while true {
            let actions = [sides[0].takeActions(), sides[1].takeActions()]
            if actions.allSatisfy(\.isEmpty) { return }
            for side in actions.indices { for action in actions[side] { carryOut(action, at: side) } }
        }
    }

    private mutating func carryOut(_ action: Machine.Action, at side: Int) {
        switch action {
        case .send(let bytes, _, _): sides[1 - side].receive(bytes.span, from: peers[side].uid)
        case .execute(let call, let incoming):
            let parent = Parent(side: side, call: incoming)
            guard let times = call.arguments.first?.first, times > 0 else {
                return end(parent, .answered(.done))
            }
            let outcome = self.call(
                at: side, times: Int(times) - 1, depth: Int(call.depth) + 1, for: parent)
            if let outcome { end(parent, outcome) }
        case .settle(let waiter, let outcome):
            if let parent = parents.removeValue(forKey: waiter) {
                end(parent, outcome)
            } else {
                ended.append(outcome)
            }
        case .stop, .arrived, .left: break
        }
    }

    /// A method ends as what it has called.
    private mutating func end(_ parent: Parent, _ outcome: CallOutcome) {
        let answer: Envelope.Answer =
            if case .answered(let answer) = outcome { answer } else { .failure(.busy, type: "", text: "") }
        let bytes = Envelope.answer(parent.call.number, answer).bytes
        sides[parent.side].finished(parent.call)
        sides[1 - parent.side].receive(bytes.span, from: peers[parent.side].uid)
    }
}
