import MultipeerActors
import MultipeerCore
import MultipeerFraming
import MultipeerMesh

/// Two exchanges and the envelopes between them, delivered as fast as a test carries them.
struct Table {
    typealias Machine = Exchange<String, Int>

    var ann = Machine(incarnation: 1)
    var bob: Machine
    let anns = peer(1)
    let bobs = peer(2)
    var annsUID: UID { anns.uid }
    var bobsUID: UID { bobs.uid }
    var now = Moment(nanoseconds: 0)
    /// The results that waiting callers received, in order.
    var told: [String] = []
    /// Calls that bob executes.
    var executing: [IncomingCall] = []
    var stopped: [Int] = []
    var visitors: [String] = []
    /// Whether what bob sends is lost.
    var isBobSilent = false

    init(bob limits: ActorLimits = ActorLimits(), linked: Bool = true) {
        bob = Machine(incarnation: 2, limits: limits)
        if linked { link() }
    }

    static func peer(_ number: UInt64) -> PeerID {
        do { return try PeerID(validating: UID(high: 0, low: number), displayName: "peer \(number)") } catch {
            preconditionFailure("a name that is none")
        }
    }

    mutating func link() {
        let hello = ann.linkMade(to: bobs)
        linkBob()
        bob.receive(hello.span, from: annsUID)
        settle()
    }

    /// At bob's side alone, perhaps for a system that is new there.
    mutating func linkBob() { ann.receive(bob.linkMade(to: anns).span, from: bobsUID) }

    /// Links at ann's side alone: what she sends is lost.
    mutating func linkAnn() {
        _ = ann.linkMade(to: bobs)
        _ = ann.takeActions()
    }

    mutating func unlink() {
        ann.linkEnded(to: bobsUID, DisconnectReason(code: .lost))
        bob.linkEnded(to: annsUID, DisconnectReason(code: .lost))
        settle()
    }

    /// Another system of bob's, over the same link.
    mutating func replaceBob(incarnation: UInt64, limits: ActorLimits = ActorLimits()) {
        bob = Machine(incarnation: incarnation, limits: limits)
        linkBob()
        settle()
    }

    /// Lets ann's system send the hello of another one.
    mutating func sayHello(incarnation: UInt64) {
        let hello = Envelope.Hello(
            incarnation: incarnation, known: 2, calls: 1_024, bytes: 1 << 24, longest: 1 << 20)
        bob.receive(Envelope.hello(hello).bytes.span, from: annsUID)
        settle()
    }

    /// Sends bob a CALL from ann, past her own system.
    mutating func send(_ number: CallNumber, size: Int = 10, depth: UInt8 = 0) {
        let call = Envelope.Call(
            number: number, depth: depth, place: .name("till"), target: "$s",
            arguments: [[UInt8](repeating: 0, count: size)])
        bob.receive(Envelope.call(call).bytes.span, from: annsUID)
        settle()
    }

    /// Delivers everything until nothing is left to send.
    mutating func settle() {
        while true {
            let (anns, bobs) = (ann.takeActions(), bob.takeActions())
            if anns.isEmpty, bobs.isEmpty { return }
            for action in anns { carryOut(action, isAnns: true) }
            for action in bobs { carryOut(action, isAnns: false) }
        }
    }

    private mutating func carryOut(_ action: Machine.Action, isAnns: Bool) {
        switch action {
        case .send(let bytes, _, _):
            if isAnns {
                bob.receive(bytes.span, from: annsUID)
            } else if !isBobSilent {
                ann.receive(bytes.span, from: bobsUID)
            }
        case .settle(let waiter, let outcome): told.append("\(waiter): \(Table.short(outcome))")
        case .execute(_, let call): executing.append(call)
        case .stop(let work): stopped.append(work)
        case .arrived(let checkIn, _): visitors.append("+\(checkIn.key)")
        case .left(let checkIn, _): visitors.append("-\(checkIn.key)")
        }
    }

    private static func short(_ outcome: CallOutcome) -> String {
        switch outcome {
        case .answered(.done): "done"
        case .answered(.value(_, let bytes)): "value \(bytes)"
        case .answered(.error(let type, _, _)): "error \(type)"
        case .answered(.failure(let failure, _, _)): "\(failure)"
        case .failed(.ended(let reason)): reason.code == .lost ? "ended lost" : "ended \(reason)"
        case .failed(let fault): "\(fault)"
        }
    }

    /// Lets ann call; returns the fault if she may not.
    @discardableResult
    mutating func call(
        _ waiter: String, size: Int = 10, depth: UInt8 = 0, within timeout: Duration? = nil
    ) -> CallFault? {
        let call = Envelope.Call(
            depth: depth, place: .name("till"), target: "$s",
            arguments: [[UInt8](repeating: 0, count: size)])
        do throws(CallFault) {
            let placed = try ann.place(
                Envelope.call(call).bytes, to: bobsUID, waiter: waiter, deadline: timeout.map { now + $0 },
                now: now)
            if let bytes = placed.post { bob.receive(bytes.span, from: annsUID) }
        } catch {
            return error
        }
        settle()
        return nil
    }

    /// Lets bob answer the oldest call that he executes, or another one.
    mutating func answer(_ answer: Envelope.Answer = .done, at index: Int = 0) {
        let call = executing.remove(at: index)
        if !isBobSilent { ann.receive(Envelope.answer(call.number, answer).bytes.span, from: bobsUID) }
        bob.finished(call)
        settle()
    }

    /// The task of a call that bob executes is known.
    mutating func began(_ index: Int, _ work: Int) -> Bool { bob.began(executing[index], work) }

    mutating func wait(_ duration: Duration) {
        now = now + duration
        ann.advance(to: now)
        bob.advance(to: now)
        settle()
    }
}

extension ActorLimits {
    func with(_ change: (inout ActorLimits) -> Void) -> ActorLimits {
        var limits = self
        change(&limits)
        return limits
    }
}
