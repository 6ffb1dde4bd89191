import MultipeerCore
import MultipeerFraming

/// How much of a peer's quotas is in use: the common one, and for nested calls one for each depth.
///
/// A call that waits at some depth waits for sent calls of that depth, which at most wait for deeper ones; the
/// deepest do not wait. So no call ever waits for itself, however many are in progress.
struct CallQuotas: Sendable {
    static let common = 0
    static let deepest = Envelope.Limit.depths
    static let count = deepest + 1

    private var loads = [Load](repeating: Load(), count: CallQuotas.count)

    subscript(share: Int) -> Load {
        get { loads[share] }
        set { loads[share] = newValue }
    }

    /// Returns the quota of nested calls of that depth, in addition to the common one; the common one for calls that
    /// are not nested.
    static func share(of depth: UInt8) -> Int { min(Int(depth), deepest) }
}

/// The state of one linked peer, and the calls in progress with it.
struct RemotePeerState<Waiter: Sendable, Work: Sendable>: Sendable {
    /// A local call that is not settled.
    struct Pending: Sendable {
        let size: Int
        let waiter: Waiter
        let deadline: Moment?
        /// Which of the peer's quotas it uses, once it is sent.
        var share = CallQuotas.common
    }

    /// A local call that waits until the peer accepts more.
    struct Waiting: Sendable {
        let call: Pending
        let bytes: [UInt8]
    }

    /// A call of the peer that this side executes.
    struct Execution: Sendable {
        /// The bytes of the call, and of its answer when that has to wait.
        var size: Int
        let isInner: Bool
        /// Nil until it runs.
        var work: Work?
        var isCancelled = false
    }

    let peer: PeerID
    /// Whether this is this side's own system.
    let isOwn: Bool
    /// Unique among all systems ever seen: it changes with each link, and with each system over the same link.
    var generation: UInt64

    /// How to answer a HELLO.
    enum HelloReply: Sendable {
        case hello
        /// With this side's check-ins as well.
        case checkIns
    }

    /// Nil when nothing is pending.
    var pendingHelloReply: HelloReply?
    /// How many systems the peer has had over this link.
    var systems = 0
    /// Nil until the peer's system has sent it.
    var hello: Envelope.Hello?
    var isIncompatible = false

    /// How many nested calls the peer accepts at each depth; nil until its system has announced it, which some never
    /// do.
    var nesting: UInt32?

    /// Own calls that were sent and are not answered.
    private(set) var sent: [CallNumber: Pending] = [:]
    private var quotas = CallQuotas()
    /// Own calls that were not sent, by the quota of their depth.
    private var waiting = [OrderedTable<CallNumber, Waiting>](
        repeating: OrderedTable(), count: CallQuotas.count)
    private var waitingCount = 0

    var executions: [CallNumber: Execution] = [:]
    /// The load of all executions.
    var load = IncomingLoad()
    /// The last few calls that were cancelled before they arrived, or after their end.
    private var cancelledEarly: [CallNumber] = []

    var checkIns: Set<Envelope.CheckIn> = []

    init(_ peer: PeerID, isOwn: Bool, generation: UInt64) {
        self.peer = peer
        self.isOwn = isOwn
        self.generation = generation
    }

    // MARK: own calls

    /// Returns the quota in which the peer accepts a new call now. The call overtakes no other of its depth, and
    /// takes nothing of the common quota while any call waits.
    func share(for size: Int, at depth: UInt8) -> Int? {
        let own = CallQuotas.share(of: depth)
        if waitingCount == 0, takes(size, in: CallQuotas.common) { return CallQuotas.common }
        return own != CallQuotas.common && waiting[own].isEmpty && takes(size, in: own) ? own : nil
    }

    /// Returns whether the peer accepts a call of that size in that quota, and knows how long answers may be. A
    /// single call is always accepted if it is not too long.
    private func takes(_ size: Int, in share: Int) -> Bool {
        guard let hello, pendingHelloReply == nil else { return false }
        if share == CallQuotas.common {
            return quotas[share].takes(size, calls: Int(hello.calls), bytes: Int(clamping: hello.bytes))
        }
        guard let nesting else { return false }
        return quotas[share].takes(size, calls: Int(nesting), bytes: Int(clamping: hello.longest))
    }

    /// Returns whether a call of that depth may wait for its turn. The deepest calls share a quota with the calls
    /// made within them, and would wait for themselves.
    func mayWait(at depth: UInt8) -> Bool {
        knowsNothing || CallQuotas.share(of: depth) != CallQuotas.deepest
    }

    /// Whether all calls wait, because the two systems have not exchanged their limits.
    private var knowsNothing: Bool { nesting == nil || pendingHelloReply != nil }

    func call(_ number: CallNumber) -> (call: Pending, isSent: Bool)? {
        if let call = sent[number] { return (call, true) }
        if waitingCount == 0 { return nil }
        for table in waiting {
            if let waiting = table[number] { return (waiting.call, false) }
        }
        return nil
    }

    mutating func send(_ number: CallNumber, _ call: Pending, in share: Int) {
        var call = call
        call.share = share
        sent[number] = call
        quotas[share].add(call.size)
    }

    mutating func enqueue(_ number: CallNumber, _ call: Waiting, at depth: UInt8) {
        waiting[CallQuotas.share(of: depth)].append(number, call)
        waitingCount += 1
    }

    /// The next waiting call to be sent.
    struct Next: Sendable {
        let number: CallNumber
        let bytes: [UInt8]
        let waiter: Waiter
        /// Nil for one that is too long.
        let share: Int?
    }

    /// Returns the oldest call if the common quota has room for it; otherwise the oldest of a depth whose own quota
    /// has.
    mutating func next() -> Next? {
        if waitingCount == 0 { return nil }
        let longest = Int(clamping: hello?.longest ?? .max)
        var oldest: (number: CallNumber, waiting: Waiting)?
        var own: (number: CallNumber, waiting: Waiting, share: Int)?
        for share in waiting.indices {
            guard let (number, first) = waiting[share].head() else { continue }
            if first.bytes.count > longest {
                return Next(number: number, bytes: first.bytes, waiter: first.call.waiter, share: nil)
            }
            if oldest.map({ number < $0.number }) ?? true { oldest = (number, first) }
            if own == nil, share != CallQuotas.common, takes(first.bytes.count, in: share) {
                own = (number, first, share)
            }
        }
        if let (number, first) = oldest, takes(first.bytes.count, in: CallQuotas.common) {
            return Next(
                number: number, bytes: first.bytes, waiter: first.call.waiter, share: CallQuotas.common)
        }
        return own.map {
            Next(
                number: $0.number, bytes: $0.waiting.bytes, waiter: $0.waiting.call.waiter, share: $0.share)
        }
    }

    /// Marks a waiting call as sent.
    mutating func release(_ number: CallNumber, in share: Int) {
        if let call = removeWaiting(number) { send(number, call, in: share) }
    }

    mutating func remove(_ number: CallNumber) -> (call: Pending, wasSent: Bool)? {
        if let call = sent.removeValue(forKey: number) {
            quotas[call.share].remove(call.size)
            return (call, true)
        }
        return removeWaiting(number).map { ($0, false) }
    }

    private mutating func removeWaiting(_ number: CallNumber) -> Pending? {
        if waitingCount == 0 { return nil }
        for share in waiting.indices {
            guard let found = waiting[share].remove(number) else { continue }
            waitingCount -= 1
            return found.call
        }
        return nil
    }

    /// Removes all that were sent, the oldest first: the same events give the same actions.
    mutating func removeSent() -> [Pending] {
        defer { (sent, quotas) = ([:], CallQuotas()) }
        return sent.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Removes all that wait, the oldest first.
    mutating func removeWaiting() -> [Pending] {
        var numbers: [CallNumber] = []
        for table in waiting { numbers += table.keys }
        return numbers.sorted().compactMap { removeWaiting($0) }
    }

    /// Waiting calls that may not wait, because the peer has since announced what it accepts at each depth.
    var overdeep: [CallNumber] {
        waitingCount == 0 || knowsNothing ? [] : waiting[CallQuotas.deepest].keys
    }

    // MARK: the peer's calls

    /// Returns whether a call that has just arrived was cancelled before.
    mutating func wasCancelled(_ number: CallNumber) -> Bool {
        guard let index = cancelledEarly.firstIndex(of: number) else { return false }
        cancelledEarly.remove(at: index)
        return true
    }

    /// Cancels the call, and returns its work.
    mutating func cancel(_ number: CallNumber) -> Work? {
        if executions[number] != nil {
            executions[number]?.isCancelled = true
            return executions[number]?.work
        }
        if cancelledEarly.count >= 64 { cancelledEarly.removeFirst() }
        cancelledEarly.append(number)
        return nil
    }

    /// Resets what belongs to the peer's system, and returns it.
    mutating func forget(_ generation: UInt64) -> (
        executions: [CallNumber: Execution], checkIns: Set<Envelope.CheckIn>
    ) {
        defer {
            self.generation = generation
            (executions, load, cancelledEarly, checkIns) = ([:], IncomingLoad(), [], [])
            (hello, nesting) = (nil, nil)
        }
        return (executions, checkIns)
    }
}
