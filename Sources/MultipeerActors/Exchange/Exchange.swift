package import MultipeerCore
import MultipeerFraming
package import MultipeerMesh

/// All calls in progress between one actor system and those of its peers, in both directions, and all check-ins.
///
/// A pure state machine: its input is bytes, links and time, its output is actions. `Waiter` waits for the answer of
/// a peer, `Work` executes a call of one.
///
/// ```
///   own call:     place ──peer takes it──▶ sent ──answer──▶ settled
///                   └──── queued ───────────┘└── deadline, cancel, end of the link ──▶ settled
///   peer's call:  received ──▶ executing ──finished──▶ gone
///                                  ├── CANCEL: work is cancelled
///                                  └── end of the link or the system: cancelled, orphaned until finished
/// ```
///
/// Every own call that was placed is settled once, unless it is cancelled by `cancel`.
package struct Exchange<Waiter: Sendable, Work: Sendable>: Sendable {
    package enum Action: Sendable {
        case send([UInt8], UID, Purpose)
        case settle(Waiter, CallOutcome)
        case execute(Envelope.Call, IncomingCall)
        case stop(Work)
        case arrived(Envelope.CheckIn, PeerID)
        case left(Envelope.CheckIn, PeerID)
    }

    /// Why bytes are sent, and what happens when there is no room for them.
    package enum Purpose: Sendable {
        /// The call fails.
        case call(CallNumber, Waiter)
        /// For a peer that keeps calling without reading: it does without the refusal.
        case refusal
        /// There is room for it even when there is none for anything else.
        case notice
    }

    /// The call that a deadline belongs to.
    struct OwnCall: Sendable {
        let uid: UID
        let number: CallNumber
    }

    /// How long a peer's system may take to respond before it counts as missing.
    package static var timeLimit: Duration { .seconds(10) }

    package let incarnation: UInt64
    package let limits: ActorLimits
    var peerStates: [UID: RemotePeerState<Waiter, Work>] = [:]
    private var generations: UInt64 = 0
    var orphanedCalls = OrphanedCalls()
    /// How many own calls are not settled.
    package internal(set) var ownCalls = 0
    var unsentBytes = 0
    /// Does not begin at 1: an answer to a call of the previous system must not match a call of this one.
    var lastNumber: CallNumber
    var deadlines = DeadlineQueue<OwnCall>()
    private var armed: Moment?
    var ownCheckIns: [ActorID.Place: Set<Envelope.CheckIn>] = [:]
    /// Check-ins that have changed since the actions were taken, with their previous state: peers are notified once,
    /// however often they changed.
    var changedCheckIns = OrderedTable<Envelope.CheckIn, Bool>()
    var actions: [Action] = []
    /// Whether the pending actions include check-ins or HELLOs.
    var hasNews = false
    /// Whether the actions that were taken last include them.
    private var isCarriedOut = false
    /// Peers whose HELLOs have to be answered: once, however many arrived since the actions were taken.
    var pendingHelloReplies: [UID] = []
    /// How many messages of peers were not envelopes, or violated the protocol.
    package internal(set) var dropped = 0

    package init(incarnation: UInt64, limits: ActorLimits = ActorLimits()) {
        precondition(incarnation != 0, "an incarnation must not be zero")
        self.incarnation = incarnation
        self.limits = limits
        lastNumber = incarnation >> 16
    }

    package var callsOfOthers: Int {
        peerStates.values.reduce(orphanedCalls.load.all.calls) { $0 + $1.executions.count }
    }
    /// The linked peers.
    package var peers: [PeerID] { peerStates.values.map(\.peer).sorted { $0.uid < $1.uid } }

    /// When `advance` has to be called next.
    package var deadline: Moment? { deadlines.earliest }

    /// Returns when to call `advance`, if that is sooner than what was returned before.
    package mutating func earlierDeadline() -> Moment? {
        guard let deadline, armed.map({ deadline < $0 }) ?? true else { return nil }
        armed = deadline
        return deadline
    }

    /// Whether there are actions to be carried out.
    package var hasActions: Bool {
        !actions.isEmpty || !pendingHelloReplies.isEmpty || !changedCheckIns.isEmpty
    }

    /// Whether bytes that are sent now would overtake older notices.
    package var isTelling: Bool {
        isCarriedOut || hasNews || !pendingHelloReplies.isEmpty || !changedCheckIns.isEmpty
    }

    /// Returns the pending actions. The caller has carried out the previous ones.
    package mutating func takeActions() -> [Action] {
        decideNews()
        (isCarriedOut, hasNews) = (hasNews, false)
        if actions.isEmpty { return [] }
        defer { actions = [] }
        return actions
    }

    /// Confirms that the actions that were taken last have been carried out.
    package mutating func haveTold() { isCarriedOut = false }

    // MARK: links

    /// Adds a linked peer; the local peer counts as one. Returns this side's HELLO, which is sent before anything is
    /// received over that link: only then is it certain to be the first message that the peer's system receives.
    package mutating func linkMade(to peer: PeerID, isOwn: Bool = false) -> [UInt8] {
        if peerStates[peer.uid] != nil { linkEnded(to: peer.uid, DisconnectReason(code: .lost)) }
        peerStates[peer.uid] = RemotePeerState(
            peer, isOwn: isOwn, generation: nextGeneration())
        return hello(knowing: 0)
    }

    /// Ends everything in progress with that peer: its calls are stopped, and this side's fail.
    package mutating func linkEnded(to uid: UID, _ reason: DisconnectReason) {
        systemEnded(at: uid, sent: .ended(reason), waiting: .ended(reason))
        peerStates[uid] = nil
    }

    /// Removes the state of the peer's system: calls that were sent to it fail with `sent`, the others with
    /// `waiting`, or wait for the next system.
    mutating func systemEnded(at uid: UID, sent: CallFault, waiting: CallFault?) {
        failSent(to: uid, with: sent)
        if let waiting { failWaiting(to: uid, with: waiting) }
        forget(uid)
    }

    /// Stops the peer's calls, which count until they have ended.
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
            // A large call may have blocked the calls after it.
            if !isSent { release(own.uid) }
        }
    }

    // MARK: access

    /// Accesses the state of a peer in place: reading it as a value would copy it, and retain each of its tables.
    mutating func look<Result>(
        at uid: UID, _ body: (inout RemotePeerState<Waiter, Work>) -> Result
    ) -> Result? {
        guard let index = peerStates.index(forKey: uid) else { return nil }
        return body(&peerStates.values[index])
    }

    // MARK: settling

    /// Ends a local call and sends the next one. Does nothing for one that has ended.
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

    /// Drops the deadlines of calls that have ended, once there are many.
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

/// How a local call ended.
package enum CallOutcome: Equatable, Sendable {
    case answered(Envelope.Answer)
    case failed(CallFault)
}

/// Why a local call has no answer.
package enum CallFault: Error, Equatable, Sendable {
    case notLinked
    case ended(DisconnectReason)
    case replaced
    case timedOut
    case noSystem
    case incompatible
    case busy
    /// The size of the call, and what the peer accepts.
    case tooLarge(Int, limit: Int)
    /// The answer cannot be decoded.
    case unreadable
    /// The caller no longer waits for the answer.
    case cancelled
}
