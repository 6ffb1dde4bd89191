package import MultipeerCore
import MultipeerFraming
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
///                                  ├── CANCEL: told to stop
///                                  └── end of the link or the system: told to stop, left over until finished
/// ```
///
/// Every own call that was placed is settled once, unless whoever placed it cancels it.
package struct Exchange<Waiter: Sendable, Work: Sendable>: Sendable {
    package enum Action: Sendable {
        case send([UInt8], UID, Purpose)
        case settle(Waiter, CallOutcome)
        case execute(Envelope.Call, IncomingCall)
        case stop(Work)
        case arrived(Envelope.CheckIn, PeerID)
        case left(Envelope.CheckIn, PeerID)
    }

    /// What bytes are sent for, and what becomes of them where there is no room.
    package enum Purpose: Sendable {
        /// The call fails.
        case call(CallNumber, Waiter)
        /// To a peer that calls on and does not read what it hears: it does without.
        case refusal
        /// There is room for it after everything else.
        case notice
    }

    /// Which call a deadline is of.
    struct OwnCall: Sendable {
        let uid: UID
        let number: CallNumber
    }

    /// How long a peer's system may be silent before it counts as not there.
    package static var patience: Duration { .seconds(10) }

    package let incarnation: UInt64
    package let limits: ActorLimits
    var peerStates: [UID: RemotePeerState<Waiter, Work>] = [:]
    private var generations: UInt64 = 0
    var orphanedCalls = OrphanedCalls()
    /// How many own calls are not settled.
    package internal(set) var ownCalls = 0
    var unsentBytes = 0
    /// Not from 1 on: an answer to a call of the system before this one is none to a call of this one.
    var lastNumber: CallNumber
    var deadlines = DeadlineQueue<OwnCall>()
    private var armed: Moment?
    var ownCheckIns: [ActorID.Place: Set<Envelope.CheckIn>] = [:]
    /// Those that have changed since the actions were taken, with what was so before: however often, peers are told once.
    var changedCheckIns = OrderedTable<Envelope.CheckIn, Bool>()
    var actions: [Action] = []
    /// Whether check-ins or HELLOs are among the actions that were not taken.
    var hasNews = false
    /// Whether they are among those that were taken last.
    private var isCarriedOut = false
    /// Peers whose HELLOs have to be answered: once, however many there were since the actions were taken.
    var pendingHelloReplies: [UID] = []
    /// Messages of peers that were no envelope, or broke the rules.
    package internal(set) var dropped = 0

    package init(incarnation: UInt64, limits: ActorLimits = ActorLimits()) {
        precondition(incarnation != 0, "an incarnation is not zero")
        self.incarnation = incarnation
        self.limits = limits
        lastNumber = incarnation >> 16
    }

    package var callsOfOthers: Int {
        peerStates.values.reduce(orphanedCalls.load.all.calls) { $0 + $1.executions.count }
    }
    /// Who is linked.
    package var peers: [PeerID] { peerStates.values.map(\.peer).sorted { $0.uid < $1.uid } }

    /// When `advance` has to be called next.
    package var deadline: Moment? { deadlines.earliest }

    /// When somebody has to be woken to call `advance`, if that is sooner than what was answered before.
    package mutating func earlierDeadline() -> Moment? {
        guard let deadline, armed.map({ deadline < $0 }) ?? true else { return nil }
        armed = deadline
        return deadline
    }

    /// Whether there is something to be carried out.
    package var hasActions: Bool {
        !actions.isEmpty || !pendingHelloReplies.isEmpty || !changedCheckIns.isEmpty
    }

    /// Whether what is sent now would come before news that are older.
    package var isTelling: Bool {
        isCarriedOut || hasNews || !pendingHelloReplies.isEmpty || !changedCheckIns.isEmpty
    }

    /// Whoever takes actions has carried out those before.
    package mutating func takeActions() -> [Action] {
        decideNews()
        (isCarriedOut, hasNews) = (hasNews, false)
        if actions.isEmpty { return [] }
        defer { actions = [] }
        return actions
    }

    /// The actions that were taken last were carried out.
    package mutating func haveTold() { isCarriedOut = false }

    // MARK: links

    /// Its own peer counts as linked, too. Answers this side's HELLO, which goes before anything is received over that link:
    /// only then is it surely the first that the peer's system hears.
    package mutating func linkMade(to peer: PeerID, isOwn: Bool = false) -> [UInt8] {
        if peerStates[peer.uid] != nil { linkEnded(to: peer.uid, DisconnectReason(code: .lost)) }
        peerStates[peer.uid] = RemotePeerState(
            peer, isOwn: isOwn, generation: nextGeneration())
        return hello(knowing: 0)
    }

    /// Everything under way with that peer is over: its own calls are told to stop, ours fail.
    package mutating func linkEnded(to uid: UID, _ reason: DisconnectReason) {
        systemEnded(at: uid, sent: .ended(reason), waiting: .ended(reason))
        peerStates[uid] = nil
    }

    /// The peer's system, and what it had here, is gone: calls that it knows of fail with `sent`, the others with `waiting`,
    /// or wait for the next one.
    mutating func systemEnded(at uid: UID, sent: CallFault, waiting: CallFault?) {
        failSent(to: uid, with: sent)
        if let waiting { failWaiting(to: uid, with: waiting) }
        forget(uid)
    }

    /// What the peer has called is told to stop, and counts until it has.
    private mutating func forget(_ uid: UID) {
        let next = nextGeneration()
        guard let peer = peerStates[uid]?.peer, let generation = peerStates[uid]?.generation,
            let (executions, checkIns) = peerStates[uid]?.forget(next)
        else { return }
        for (number, execution) in executions.sorted(by: { $0.key < $1.key }) {
            let call = IncomingCall(
                peer: peer, number: number, generation: generation, isInner: execution.isInner)
            orphanedCalls.add(call, execution.size)
            if let work = execution.work { actions.append(.stop(work)) }
        }
        for checkIn in checkIns.sorted() {
            actions.append(.left(checkIn, peer))
        }
    }

    private mutating func nextGeneration() -> UInt64 {
        generations += 1
        return generations
    }

    func hello(knowing known: UInt64) -> [UInt8] {
        let hello = Envelope.Hello(
            incarnation: incarnation, known: known, calls: UInt32(clamping: limits.calls),
            bytes: UInt32(clamping: limits.callBytes), longest: UInt32(clamping: limits.envelope))
        return Envelope.hello(hello).bytes
    }

    // MARK: time

    package mutating func advance(to now: Moment) {
        armed = nil
        while let own = deadlines.next(until: now) {
            guard let (call, isSent) = peerStates[own.uid]?.call(own.number) else { continue }
            let hasSystem = peerStates[own.uid]?.hello != nil
            if let deadline = call.deadline, deadline <= now {
                settle(own.number, to: own.uid, .failed(hasSystem ? .timedOut : .noSystem))
                if isSent { actions.append(.send(Envelope.cancel(own.number).bytes, own.uid, .notice)) }
            } else if !hasSystem {
                settle(own.number, to: own.uid, .failed(.noSystem))
            }
            // A large one that waited has kept others waiting.
            if !isSent { release(own.uid) }
        }
    }

    // MARK: looking

    /// Looks at what is known of a peer where it lies: read as a value it is copied, with a reference for each of its tables.
    mutating func look<Result>(
        at uid: UID, _ body: (inout RemotePeerState<Waiter, Work>) -> Result
    ) -> Result? {
        guard let index = peerStates.index(forKey: uid) else { return nil }
        return body(&peerStates.values[index])
    }

    // MARK: settling

    /// Ends an own call and lets the next one go. Does nothing for one that is over.
    mutating func settle(_ number: CallNumber, to uid: UID, _ outcome: CallOutcome) {
        guard let (call, _) = remove(number, to: uid) else { return }
        actions.append(.settle(call.waiter, outcome))
    }

    mutating func remove(
        _ number: CallNumber, to uid: UID
    ) -> (call: RemotePeerState<Waiter, Work>.Pending, wasSent: Bool)? {
        guard let removed = peerStates[uid]?.remove(number) else { return nil }
        ownCalls -= 1
        if removed.wasSent { release(uid) } else { unsentBytes -= removed.call.size }
        tidyDeadlines()
        return removed
    }

    /// Drops those of calls that are over, once there are many.
    private mutating func tidyDeadlines() {
        guard deadlines.count > 2 * ownCalls + 1_024 else { return }
        let peerStates = peerStates
        deadlines.keep { peerStates[$0.uid]?.call($0.number) != nil }
    }

    private mutating func failSent(to uid: UID, with fault: CallFault) {
        for call in peerStates[uid]?.removeSent() ?? [] {
            ownCalls -= 1
            actions.append(.settle(call.waiter, .failed(fault)))
        }
        tidyDeadlines()
    }

    mutating func failWaiting(to uid: UID, with fault: CallFault) {
        for call in peerStates[uid]?.removeWaiting() ?? [] {
            ownCalls -= 1
            unsentBytes -= call.size
            actions.append(.settle(call.waiter, .failed(fault)))
        }
        tidyDeadlines()
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
    case ended(DisconnectReason)
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
