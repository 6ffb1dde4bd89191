package import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerMesh

/// All calls under way between one actor system and those of its peers, in both directions; and who has checked in.
///
/// Pure: bytes, links and time go in, actions come out. `Waiter` is whoever wants an answer of a peer, `Work` whatever
/// executes a call of one.
///
/// ```
///   own call:     place ──peer takes it──▶ sent ──answer──▶ settled
///                   └──── queued ───────────┘└── deadline, cancel, end of the link ──▶ settled
///   peer's call:  received ──▶ executing ──finished──▶ gone
///                                  └── CANCEL, end of the link: told to stop
/// ```
///
/// Every own call that was placed is settled once, unless whoever placed it cancels it.
package struct Exchange<Waiter: Sendable, Work: Sendable>: Sendable {
    package enum Action: Sendable {
        /// `call` fails when the bytes cannot be sent.
        case send([UInt8], UID, call: CallNumber?)
        case settle(Waiter, CallOutcome)
        /// The answer may have so many bytes.
        case execute(Envelope.Call, UID, limit: Int)
        case stop(Work)
        case arrived(Envelope.CheckIn, UID)
        case left(Envelope.CheckIn, UID)
    }

    struct Pending: Sendable {
        let uid: UID
        let size: Int
        let waiter: Waiter
        let deadline: Moment?
        /// Nil once it was sent.
        var unsent: [UInt8]?
    }

    /// How long a peer's system may be silent before it counts as not there.
    package static var patience: Duration { .seconds(10) }

    package let incarnation: UInt64
    package let limits: ActorLimits
    var correspondents: [UID: Correspondent<Work>] = [:]
    var pending: [CallNumber: Pending] = [:]
    var unsentBytes = 0
    var lastNumber: CallNumber = 0
    var deadlines = DeadlineQueue<CallNumber>()
    private var armed: Moment?
    var ownCheckIns: Set<Envelope.CheckIn> = []
    var actions: [Action] = []
    /// Messages of peers that were no envelope, or broke the rules.
    package internal(set) var dropped = 0

    package init(incarnation: UInt64, limits: ActorLimits = ActorLimits()) {
        precondition(incarnation != 0, "an incarnation is not zero")
        self.incarnation = incarnation
        self.limits = limits
    }

    package var ownCalls: Int { pending.count }
    package var callsOfOthers: Int { correspondents.values.reduce(0) { $0 + $1.incoming.count } }

    /// When `advance` has to be called next.
    package var deadline: Moment? { deadlines.earliest }

    /// When somebody has to be woken to call `advance`, if that is sooner than what was answered before.
    package mutating func newAlarm() -> Moment? {
        guard let deadline, armed.map({ deadline < $0 }) ?? true else { return nil }
        armed = deadline
        return deadline
    }

    package mutating func takeActions() -> [Action] {
        if actions.isEmpty { return [] }
        defer { actions = [] }
        return actions
    }

    // MARK: links

    package mutating func linkMade(to uid: UID) {
        if correspondents[uid] != nil { linkEnded(to: uid, EndReason(code: .lost)) }
        correspondents[uid] = Correspondent()
        sayHello(to: uid, knowing: 0)
    }

    /// Everything under way with that peer is over: its own calls are told to stop, ours fail.
    package mutating func linkEnded(to uid: UID, _ reason: EndReason) {
        failCalls(to: uid, with: .ended(reason)) { _ in true }
        forget(uid)
        correspondents[uid] = nil
    }

    /// What the peer's system had here is gone.
    mutating func forget(_ uid: UID) {
        guard let correspondent = correspondents[uid] else { return }
        for incoming in correspondent.incoming.values {
            if let work = incoming.work { actions.append(.stop(work)) }
        }
        for checkIn in correspondent.checkIns { actions.append(.left(checkIn, uid)) }
        correspondents[uid]?.incoming = [:]
        correspondents[uid]?.incomingLoad = Correspondent.Load()
        correspondents[uid]?.cancelledEarly = []
        correspondents[uid]?.checkIns = []
    }

    mutating func sayHello(to uid: UID, knowing known: UInt64) {
        let hello = Envelope.Hello(
            incarnation: incarnation, known: known, calls: UInt32(clamping: limits.calls),
            bytes: UInt32(clamping: limits.callBytes), longest: UInt32(clamping: limits.envelope))
        actions.append(.send(Envelope.hello(hello).bytes, uid, call: nil))
    }

    // MARK: time

    package mutating func advance(to now: Moment) {
        armed = nil
        while let number = deadlines.next(until: now) {
            guard let call = pending[number] else { continue }
            let hasSystem = correspondents[call.uid]?.hello != nil
            if let deadline = call.deadline, deadline <= now {
                settle(number, .failed(hasSystem ? .timedOut : .noSystem))
                if call.unsent == nil {
                    actions.append(.send(Envelope.cancel(number).bytes, call.uid, call: nil))
                }
            } else if !hasSystem {
                settle(number, .failed(.noSystem))
            }
        }
    }

    // MARK: settling

    /// Ends an own call and lets the next one go. Does nothing for one that is over.
    mutating func settle(_ number: CallNumber, _ outcome: CallOutcome) {
        guard let call = remove(number) else { return }
        actions.append(.settle(call.waiter, outcome))
    }

    @discardableResult
    mutating func remove(_ number: CallNumber) -> Pending? {
        guard let call = pending.removeValue(forKey: number) else { return nil }
        if let unsent = call.unsent {
            unsentBytes -= unsent.count
        } else {
            correspondents[call.uid]?.sent.remove(call.size)
            release(call.uid)
        }
        if deadlines.count > 2 * pending.count + 1_024 {
            let pending = pending
            deadlines.keep { pending[$0] != nil }
        }
        return call
    }

    /// Fails the calls to a peer for which that holds; a call that was not sent is asked about with true.
    mutating func failCalls(to uid: UID, with fault: CallFault, where isMeant: (_ isUnsent: Bool) -> Bool) {
        // In their order, so that the same events give the same actions.
        for number in pending.keys.sorted() {
            guard let call = pending[number], call.uid == uid, isMeant(call.unsent != nil) else { continue }
            pending[number] = nil
            if let unsent = call.unsent {
                unsentBytes -= unsent.count
            } else {
                correspondents[uid]?.sent.remove(call.size)
            }
            actions.append(.settle(call.waiter, .failed(fault)))
        }
    }
}

/// How an own call ended.
package enum CallOutcome: Equatable, Sendable {
    case answered(Envelope.Answer)
    case failed(CallFault)
}

/// Why an own call has no answer.
package enum CallFault: Error, Equatable, Sendable {
    case notLinked
    case ended(EndReason)
    case replaced
    case timedOut
    case noSystem
    case incompatible
    case busy
    /// Its bytes, and how many the peer takes.
    case tooLarge(Int, limit: Int)
    /// The answer cannot be read.
    case unreadable
    /// Whoever wanted the answer does not wait for it.
    case cancelled
}
