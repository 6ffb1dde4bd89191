import MultipeerActors
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh

/// An exchange with two peers who say anything, and a plain account of its calls.
struct ExchangeStage {
    private typealias Machine = Exchange<Int, Int>

    private static let peers = [1, 2].compactMap { number in
        try? PeerID(uid: UID(high: 0, low: number), displayName: "peer")
    }
    private var machine: Machine
    private var now = Moment(nanoseconds: 0)
    /// Calls that were placed and are not settled, with their numbers.
    private var open: [Int: (UID, CallNumber)] = [:]
    private var placed = 0
    private var executing: [IncomingCall] = []
    private var linked: Set<UID> = []
    private var limits = ActorLimits()

    init() {
        limits.calls = 4
        limits.pending = 16
        limits.checkIns = 4
        limits.envelope = 1_024
        machine = Machine(incarnation: 1, limits: limits)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let order = input.byte()
        let known = Self.peers[Int(order >> 7)]
        let peer = known.uid
        switch order & 15 {
        case 0: if linked.insert(peer).inserted { _ = machine.linkMade(to: known) }
        case 1: if linked.remove(peer) != nil { machine.linkEnded(to: peer, EndReason(code: .lost)) }
        case 2, 3: try place(to: peer, size: Int(input.byte()), within: input.byte())
        case 4:
            if let waiter = open.keys.min(), let (uid, number) = open.removeValue(forKey: waiter) {
                try promise(machine.cancel(number, to: uid), "a call that is not settled can be cancelled")
            }
        case 5:
            now = now + .milliseconds(100 * Int64(input.byte()))
            machine.advance(to: now)
        case 6: if let call = executing.popLast() { machine.finished(call) }
        case 7:
            if let call = executing.first {
                _ = machine.began(call, placed)
                _ = machine.answerMayWait(1 << (input.byte() & 31), for: call)
            }
        case 8:
            let hello = Envelope.Hello(
                incarnation: UInt64(input.byte()) + 1, calls: UInt32(input.byte() & 3) + 1, bytes: 4_096,
                longest: 1_024)
            if linked.contains(peer) { machine.receive(Envelope.hello(hello).bytes.span, from: peer) }
        case 9:
            let call = Envelope.Call(number: UInt64(input.byte()), place: .name("a"), target: "$s")
            machine.receive(Envelope.call(call).bytes.span, from: peer)
        case 10: machine.receive(Envelope.answer(UInt64(input.byte()), .done).bytes.span, from: peer)
        default:
            var bytes: [UInt8] = [0x00, 0x41, 0x43, 0x54]
            bytes += input.bytes(Int(input.byte()))
            machine.receive(bytes.span, from: peer)
        }
        try carryOut()
    }

    private mutating func place(to peer: UID, size: Int, within tenths: UInt8) throws(BrokenPromise) {
        let call = Envelope.Call(
            place: .name("a"), target: "$s", arguments: [[UInt8](repeating: 0, count: size)])
        let deadline = tenths == 0 ? nil : now + .milliseconds(100 * Int64(tenths))
        placed += 1
        do throws(CallFault) {
            let (number, _) = try machine.place(
                Envelope.call(call).bytes, to: peer, waiter: placed, deadline: deadline, now: now)
            open[placed] = (peer, number)
        } catch {
            return
        }
        try promise(open.count <= limits.pending, "no more calls wait than may")
    }

    private mutating func carryOut() throws(BrokenPromise) {
        for action in machine.takeActions() {
            switch action {
            case .send(let bytes, let uid, _):
                try promise(linked.contains(uid), "what is said is said to a linked peer")
                try promise((try? Envelope(bytes.span)) != nil, "what is said can be read")
            case .settle(let waiter, _):
                try promise(open.removeValue(forKey: waiter) != nil, "a call is settled once")
            case .execute(_, let call):
                executing.append(call)
                try promise(linked.contains(call.peer.uid), "only linked peers call")
                let others = executing.count { $0.peer == call.peer }
                try promise(others <= 2 * limits.calls, "a peer has no more in hand than it may")
            case .stop, .arrived, .left: break
            }
        }
        try promise(machine.ownCalls == open.count, "every call that is not settled is counted")
        try promise(machine.callsOfOthers == executing.count, "every call that runs is counted")
    }

    mutating func end() throws(BrokenPromise) {
        for peer in Self.peers.map(\.uid) where linked.remove(peer) != nil {
            machine.linkEnded(to: peer, EndReason(code: .lost))
        }
        for action in machine.takeActions() {
            guard case .settle(let waiter, _) = action else { continue }
            try promise(open.removeValue(forKey: waiter) != nil, "a call is settled once")
        }
        try promise(open.isEmpty, "when all links have ended, every call is settled")
    }
}
