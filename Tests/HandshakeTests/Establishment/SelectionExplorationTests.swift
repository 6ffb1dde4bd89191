import MultipeerCore
import MultipeerHandshake
import TestSupport
import Testing

/// Every interleaving of 4 connections and 2 deaths between two `Selection`s, as value-type states.
///
/// The world: each end learns in any order that a connection is verified; SELECT, SELECTED and the close of a duplicate
/// travel in order on each connection and are delivered in any order between connections; a connection may die at any
/// moment, which the two ends notice at different times and which loses what was in flight. The probe of a link on which
/// SELECT came again may run out at any moment, too.
@Suite("6.4 Selection, explored", .computing)
struct SelectionExplorationTests {
    @Test(
        "every interleaving of 4 connections and 2 losses ends with one link, the same at both ends [select.one] [select.next] [stale.supersede]"
    )
    func everyInterleaving() {
        let explored = Exploration(of: World(connections: 4, deaths: 2))
        #expect(explored.fault == nil)
        #expect(explored.rests > 0)
        #expect(explored.states > 10_000, "only \(explored.states) states were explored")
    }

    @Test("when no connection is lost, every interleaving ends with a link")
    func withoutDeaths() {
        #expect(Exploration(of: World(connections: 3, deaths: 0), needsLink: true).fault == nil)
    }

    @Test("a controlled end that also nominates is caught: the two ends refuse each other for ever")
    func bothNominate() {
        let mutant = World(connections: 3, deaths: 0, parts: (.controlling, .controlling))
        #expect(Exploration(of: mutant, needsLink: true).fault != nil)
    }

    @Test("a controlling end that never nominates is caught")
    func nobodyNominates() {
        let mutant = World(connections: 2, deaths: 0, parts: (.controlled, .controlled))
        #expect(Exploration(of: mutant, needsLink: true).fault != nil)
    }
}

/// Every state that a world can come to, until one is wrong.
private struct Exploration {
    private(set) var fault: String?
    private(set) var rests = 0
    private(set) var states = 0

    init(of start: World, needsLink: Bool = false) {
        var seen: Set<World> = [start]
        var frontier = [start]
        while let world = frontier.popLast(), fault == nil {
            let successors = world.successors()
            if successors.isEmpty {
                rests += 1
                if !world.isAgreed || (needsLink && world.controlling.link == nil) {
                    fault = "no agreement at rest: \(world)"
                }
            }
            if !world.isSound { fault = "unsound: \(world)" }
            for next in successors where seen.insert(next).inserted { frontier.append(next) }
        }
        states = seen.count
    }
}

/// Both ends and what is in flight between them.
private struct World: Hashable {
    enum Message: UInt8, Hashable { case select = 1, selected, close, ping, pong }
    enum Health: UInt8, Hashable { case alive, dead }

    /// Messages in flight in one direction, the first in the lowest bits: an array would cost most of the time.
    struct Mail: Hashable {
        private var bits: UInt32 = 0
        var first: Message? { Message(rawValue: UInt8(truncatingIfNeeded: bits & 7)) }
        mutating func removeFirst() { bits >>= 3 }
        mutating func append(_ message: Message) {
            let used = (UInt32.bitWidth - bits.leadingZeroBitCount + 2) / 3
            bits |= UInt32(message.rawValue) << UInt32(3 * used)
        }
    }

    /// One connection as the network sees it.
    struct Wire: Hashable {
        var health = Health.alive
        var toControlling = Mail()
        var toControlled = Mail()
        var knownToControlling = false
        var knownToControlled = false
        var mournedByControlling = false
        var mournedByControlled = false
    }

    var controlling: Selection
    var controlled: Selection
    var wires: [Wire]
    var deaths: Int
    /// A link lived although SELECT came on another connection: then its peer had no right to select.
    var hasOutlivedSelect = false

    init(
        connections: Int, deaths: Int, parts: (Selection.Part, Selection.Part) = (.controlling, .controlled)
    ) {
        controlling = Selection(parts.0)
        controlled = Selection(parts.1)
        wires = Array(repeating: Wire(), count: connections)
        self.deaths = deaths
    }

    /// True at rest when both ends hold the same living link, or neither does because every connection died.
    var isAgreed: Bool {
        guard controlling.link == controlled.link else { return false }
        if let link = controlling.link { return wires[Int(link.rawValue)].health == .alive }
        return wires.allSatisfy { $0.health == .dead || $0.mournedByControlling }
    }

    /// True always: an end never holds a link to a connection that it has mourned, nor nominates while it has a link.
    var isSound: Bool {
        guard !hasOutlivedSelect else { return false }
        guard controlling.nominated == nil || controlling.link == nil else { return false }
        let held = controlling.link.map { !wires[Int($0.rawValue)].mournedByControlling } ?? true
        return held && (controlled.link.map { !wires[Int($0.rawValue)].mournedByControlled } ?? true)
    }

    func successors() -> [World] {
        wires.indices.flatMap { index in
            [learn(index), deliver(index), die(index), mourn(index)].flatMap { $0 }
        } + loseProbe()
    }

    private func loseProbe() -> [World] {
        guard controlled.waiting != nil else { return [] }
        var world = self
        world.carryOut(world.controlled.supersede(), controlling: false)
        return [world]
    }

    private func learn(_ index: Int) -> [World] {
        let wire = wires[index]
        guard wire.health == .alive else { return [] }
        let id = ConnectionID(rawValue: UInt32(index))
        var next: [World] = []
        if !wire.knownToControlling, !wire.mournedByControlling {
            var world = self
            world.wires[index].knownToControlling = true
            world.carryOut(
                world.controlling.verified(id, hasLinkCapacity: true, linkIsSettled: false), controlling: true
            )
            next.append(world)
        }
        if !wire.knownToControlled, !wire.mournedByControlled {
            var world = self
            world.wires[index].knownToControlled = true
            world.carryOut(
                world.controlled.verified(id, hasLinkCapacity: true, linkIsSettled: false), controlling: false
            )
            next.append(world)
        }
        return next
    }

    private func deliver(_ index: Int) -> [World] {
        let wire = wires[index]
        let id = ConnectionID(rawValue: UInt32(index))
        var next: [World] = []
        if let message = wire.toControlling.first, !wire.mournedByControlling {
            var world = self
            world.wires[index].toControlling.removeFirst()
            switch message {
            case .selected: world.carryOut(world.controlling.selectedArrived(on: id), controlling: true)
            case .select:
                world.carryOut(
                    world.controlling.selectArrived(on: id, hasLinkCapacity: true), controlling: true)
            case .close: world.endControlling(index)
            case .ping: world.send(.pong, on: id, fromControlling: true)
            case .pong: break
            }
            next.append(world)
        }
        // SELECT comes after CONFIRM on the same connection, so the candidate is known by then.
        if let message = wire.toControlled.first, !wire.mournedByControlled, wire.knownToControlled {
            var world = self
            world.wires[index].toControlled.removeFirst()
            switch message {
            case .select:
                world.carryOut(
                    world.controlled.selectArrived(on: id, hasLinkCapacity: true), controlling: false)
            case .pong where world.controlled.link == id:
                world.hasOutlivedSelect = world.controlled.waiting != nil
                world.carryOut(world.controlled.probeAnswered(), controlling: false)
            case .pong, .ping: break
            case .selected, .close: world.endControlled(index)
            }
            next.append(world)
        }
        return next
    }

    private func die(_ index: Int) -> [World] {
        guard deaths > 0, wires[index].health == .alive else { return [] }
        var world = self
        world.deaths -= 1
        world.wires[index].health = .dead
        world.wires[index].toControlling = Mail()
        world.wires[index].toControlled = Mail()
        return [world]
    }

    private func mourn(_ index: Int) -> [World] {
        guard wires[index].health == .dead else { return [] }
        var next: [World] = []
        if !wires[index].mournedByControlling {
            var world = self
            world.endControlling(index)
            next.append(world)
        }
        if !wires[index].mournedByControlled {
            var world = self
            world.endControlled(index)
            next.append(world)
        }
        return next
    }

    private mutating func endControlling(_ index: Int) {
        wires[index].health = .dead
        wires[index].mournedByControlling = true
        carryOut(
            controlling.died(ConnectionID(rawValue: UInt32(index)), hasLinkCapacity: true), controlling: true)
    }

    private mutating func endControlled(_ index: Int) {
        wires[index].health = .dead
        wires[index].mournedByControlled = true
        carryOut(
            controlled.died(ConnectionID(rawValue: UInt32(index)), hasLinkCapacity: true), controlling: false)
    }

    private mutating func carryOut(_ actions: [Selection.Action], controlling sender: Bool) {
        for action in actions {
            switch action {
            case .select(let id): send(.select, on: id, fromControlling: sender)
            case .selected(let id): send(.selected, on: id, fromControlling: sender)
            case .duplicate(let id), .superseded(let id), .outOfTurn(let id):
                send(.close, on: id, fromControlling: sender)
                if sender {
                    wires[Int(id.rawValue)].mournedByControlling = true
                } else {
                    wires[Int(id.rawValue)].mournedByControlled = true
                }
            case .linked: break
            case .probe(let id): send(.ping, on: id, fromControlling: sender)
            case .full: Issue.record("\(action) cannot happen here")
            }
        }
    }

    private mutating func send(_ message: Message, on id: ConnectionID, fromControlling: Bool) {
        let index = Int(id.rawValue)
        guard wires[index].health == .alive else { return }
        if fromControlling {
            wires[index].toControlled.append(message)
        } else {
            wires[index].toControlling.append(message)
        }
    }
}
