import MultipeerActors
import MultipeerCore
import MultipeerFraming
import MultipeerMesh

/// An exchange with two peers that send anything, and a simple model of its calls and of the actors that have checked in.
/// Its decisions are carried out at once, or one by one while other things happen.
struct ExchangeStage {
    private typealias Machine = Exchange<Int, Int>

    private static let peers = [1, 2].compactMap { number in
        try? PeerID(validating: UID(high: 0, low: number), displayName: "peer")
    }

    /// A call that was placed and is not settled.
    private struct Open {
        let uid: UID
        let number: CallNumber
        /// The actors that had checked in before, and have not checked out since.
        var checkedIn: Set<Envelope.CheckIn>
    }

    /// A peer over one link.
    private struct Listener {
        /// The last system of the peer that has sent hello.
        var incarnation: UInt64 = 0
        var systems = 0
        /// The actors that have checked in, as that system knows them.
        var checkedIn: Set<Envelope.CheckIn> = []
        /// Counts links and systems: earlier decisions have no receiver.
        var epoch = 0
    }

    private var machine: Machine
    private var now = Moment(nanoseconds: 0)
    private var open: [Int: Open] = [:]
    private var placed = 0
    private var executing: [IncomingCall] = []
    private var linked: [UID: Listener] = [:]
    private var epochs = 0
    private var checkedIn: Set<Envelope.CheckIn> = []
    private var limits = ActorLimits()
    /// Decisions that are not carried out yet, with the epoch of their peer.
    private var undone: [(action: Machine.Action, epoch: Int)] = []

    init() {
        limits.calls = 4
        limits.nestedCalls = 1
        limits.pending = 16
        limits.checkIns = 4
        limits.envelope = 1_024
        machine = Machine(incarnation: 1, limits: limits)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let order = input.byte()
        let known = Self.peers[Int(order >> 7)]
        let peer = known.uid
        // Nothing else has happened since the result of this step was decided.
        let isPrompt = undone.isEmpty && !machine.hasActions
        switch order & 15 {
        case 0:
            guard linked[peer] == nil else { break }
            linked[peer] = Listener(epoch: nextEpoch())
            _ = machine.linkMade(to: known)
        case 1:
            guard linked.removeValue(forKey: peer) != nil else { break }
            machine.linkEnded(to: peer, DisconnectReason(code: .lost))
        case 2: try place(to: peer, size: Int(input.byte()), within: input.byte())
        case 3: try place(to: peer, size: Int(input.byte()), within: input.byte(), depth: depth(order))
        case 4:
            // A call whose end is decided is over.
            if isPrompt, let waiter = open.keys.min(), let call = open.removeValue(forKey: waiter) {
                let isOpen = machine.cancel(call.number, to: call.uid)
                try promise(isOpen, "a call that is not settled can be cancelled")
            }
        case 5:
            now = now + .milliseconds(100 * Int64(input.byte()))
            machine.advance(to: now)
        case 6: if let call = executing.popLast() { machine.finished(call) }
        case 7:
            if let call = executing.first {
                let size = input.byte()
                _ = machine.began(call, placed)
                if machine.answerMayWait(1 << (size & 31), for: call), size > 127 {
                    machine.answerWaits(262_144, for: call)
                }
            }
        case 8:
            let hello = Envelope.Hello(
                incarnation: UInt64(input.byte()) + 1, calls: UInt32(input.byte() & 3) + 1, bytes: 4_096,
                longest: 1_024)
            receive(Envelope.hello(hello).bytes, from: peer)
        case 9:
            let call = Envelope.Call(number: UInt64(input.byte()), place: .name("a"), target: "$s")
            receive(Envelope.call(call).bytes, from: peer)
        case 13 where depth(order) == 1: receive(Envelope.nesting(UInt32(input.byte() & 3)).bytes, from: peer)
        case 13 where depth(order) > 1:
            let call = Envelope.Call(
                number: UInt64(input.byte()), depth: depth(order), place: .name("a"), target: "$s")
            receive(Envelope.call(call).bytes, from: peer)
        case 10: receive(Envelope.answer(UInt64(input.byte()), .done).bytes, from: peer)
        case 12: try checkIn(input.byte())
        default: receive([0x00, 0x41, 0x43, 0x54] + input.bytes(Int(input.byte())), from: peer)
        }
        if undone.isEmpty { try take(isPrompt: isPrompt) }
        // One of the decisions, or all of them.
        let isSlow = order & 64 != 0
        while !undone.isEmpty {
            try carryOut(undone.removeFirst())
            if undone.isEmpty { try settle() }
            if isSlow { return }
        }
    }

    /// The depth of a nested call: none, two with quotas of their own, and one that is too deep.
    private func depth(_ order: UInt8) -> UInt8 { [0, 1, 2, 9][Int(order >> 4 & 3)] }

    private mutating func nextEpoch() -> Int {
        epochs += 1
        return epochs
    }

    private mutating func checkIn(_ which: UInt8) throws(BrokenPromise) {
        let checkIn = Envelope.CheckIn(key: "\(which & 3)", type: "T", place: .name("\(which >> 2 & 1)"))
        if which & 128 == 0 {
            let isNew = machine.checkIn(checkIn)
            try promise(checkedIn.insert(checkIn).inserted == isNew, "an actor checks in once")
        } else {
            let wasIn = machine.checkOut(checkIn)
            try promise((checkedIn.remove(checkIn) != nil) == wasIn, "a checked-in actor can check out")
            for waiter in open.keys { open[waiter]?.checkedIn.remove(checkIn) }
        }
    }

    private mutating func receive(_ bytes: [UInt8], from peer: UID) {
        if let listener = linked[peer], case .hello(let hello)? = try? Envelope(bytes.span) {
            // Beyond that many, systems are ignored.
            guard listener.systems < 1_000 else { return }
            if hello.incarnation != listener.incarnation {
                linked[peer] = Listener(
                    incarnation: hello.incarnation, systems: listener.systems + 1, epoch: nextEpoch())
            }
        }
        machine.receive(bytes.span, from: peer)
    }

    /// Places a call like a caller: earlier decisions may have to be carried out first.
    private mutating func place(
        to peer: UID, size: Int, within tenths: UInt8, depth: UInt8 = 0
    ) throws(BrokenPromise) {
        let call = Envelope.Call(
            depth: depth, place: .name("a"), target: "$s",
            arguments: [[UInt8](repeating: 0, count: size)])
        let deadline = tenths == 0 ? nil : now + .milliseconds(100 * Int64(tenths))
        let new: (number: CallNumber, post: [UInt8]?)
        placed += 1
        do throws(CallFault) {
            new = try machine.place(
                Envelope.call(call).bytes, to: peer, waiter: placed, deadline: deadline, now: now)
        } catch {
            return
        }
        open[placed] = Open(uid: peer, number: new.number, checkedIn: checkedIn)
        try promise(machine.ownCalls <= limits.pending, "the number of waiting calls is within its limit")
        guard let bytes = new.post else { return }
        if machine.isTelling {
            machine.leave(bytes, to: peer, new.number, placed)
        } else {
            try hear(bytes, at: peer, .call(new.number, placed))
        }
    }

    // MARK: what was decided

    private mutating func take(isPrompt: Bool) throws(BrokenPromise) {
        let actions = machine.takeActions()
        var settled: Set<Int> = []
        for case .settle(let waiter, _) in actions { settled.insert(waiter) }
        for action in actions {
            var epoch = 0
            switch action {
            // It ended before it was sent, with the system or the link that it was for.
            case .send(_, _, .call(_, let waiter)) where settled.contains(waiter): break
            case .send(let bytes, let uid, _):
                try promise(!isPrompt || linked[uid] != nil, "messages are sent only to linked peers")
                try promise((try? Envelope(bytes.span)) != nil, "every message sent is valid")
                epoch = linked[uid]?.epoch ?? 0
            case .execute(_, let call):
                try promise(!isPrompt || linked[call.peer.uid] != nil, "only linked peers call")
            case .settle, .stop, .arrived, .left: break
            }
            undone.append((action, epoch))
        }
        if undone.isEmpty { try settle() }
    }

    private mutating func carryOut(_ one: (action: Machine.Action, epoch: Int)) throws(BrokenPromise) {
        switch one.action {
        case .send(let bytes, let uid, let purpose):
            if linked[uid]?.epoch == one.epoch { try hear(bytes, at: uid, purpose) }
        case .settle(let waiter, _):
            try promise(open.removeValue(forKey: waiter) != nil, "a call is settled once")
        case .execute(_, let call):
            executing.append(call)
            let others = executing.filter { $0.peer == call.peer }
            try promise(
                others.count { !$0.isInner } <= 2 * limits.calls,
                "a peer's calls in progress are within the limit")
            let most = limits.calls + Envelope.Limit.depths * limits.nestedCalls
            try promise(others.count <= 2 * most, "nested calls in progress are within the limit")
        case .stop, .arrived, .left: break
        }
    }

    /// Carries out everything that was taken.
    private mutating func settle() throws(BrokenPromise) {
        machine.haveTold()
        if machine.hasActions { return }
        try promise(machine.ownCalls == open.count, "every unsettled call is counted")
        try promise(machine.callsOfOthers == executing.count, "every running call is counted")
    }

    private mutating func hear(
        _ bytes: [UInt8], at peer: UID, _ purpose: Machine.Purpose
    ) throws(BrokenPromise) {
        switch try? Envelope(bytes.span) {
        case .checkIn(let checkIn): linked[peer]?.checkedIn.insert(checkIn)
        case .checkOut(let checkIn): linked[peer]?.checkedIn.remove(checkIn)
        default: break
        }
        guard case .call(_, let waiter) = purpose, let before = open[waiter]?.checkedIn else { return }
        let known = linked[peer]?.checkedIn ?? []
        try promise(
            before.isSubset(of: known),
            "an actor that checked in before a call is known where the call arrives")
    }

    mutating func end() throws(BrokenPromise) {
        for one in undone { try carryOut(one) }
        machine.haveTold()
        for peer in Self.peers.map(\.uid) where linked.removeValue(forKey: peer) != nil {
            machine.linkEnded(to: peer, DisconnectReason(code: .lost))
        }
        for action in machine.takeActions() {
            guard case .settle(let waiter, _) = action else { continue }
            try promise(open.removeValue(forKey: waiter) != nil, "a call is settled once")
        }
        try promise(open.isEmpty, "when all links have ended, every call is settled")
    }
}
