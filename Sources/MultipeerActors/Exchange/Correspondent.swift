import MultipeerCore
import MultipeerFraming

/// What is known of one linked peer, and under way with it.
struct Correspondent<Waiter: Sendable, Work: Sendable>: Sendable {
    /// An own call that is not settled.
    struct Pending: Sendable {
        let size: Int
        let waiter: Waiter
        let deadline: Moment?
    }

    /// An own call that waits until the peer takes more.
    struct Waiting: Sendable {
        let call: Pending
        let bytes: [UInt8]
    }

    /// A call of the peer that this side executes.
    struct Execution: Sendable {
        /// Of the call, and of its answer when that has to wait.
        var size: Int
        /// Set once it runs.
        var work: Work?
        var isCancelled = false
    }

    let peer: PeerID
    /// Whether this is this side's own system.
    let isOwn: Bool
    /// Which of all systems that were ever heard it is: another link, and another system over the same link, count anew.
    var generation: UInt64

    /// What a HELLO is answered with.
    enum Greeting: Sendable {
        case hello
        /// And with what has checked in.
        case checkIns
    }

    /// Not said yet.
    var greeting: Greeting?
    /// How many the peer has had over this link.
    var systems = 0
    /// Nil until the peer's system has said it.
    var hello: Envelope.Hello?
    var isIncompatible = false

    /// Own calls that were sent and are not answered.
    private(set) var sent: [CallNumber: Pending] = [:]
    private(set) var sentBytes = 0
    /// Own calls that were not sent.
    private(set) var waiting = OrderedTable<CallNumber, Waiting>()

    var executions: [CallNumber: Execution] = [:]
    /// Of all of these.
    var load = Load()
    /// Calls that were cancelled before they arrived, or behind their end: the last few.
    private var cancelledEarly: [CallNumber] = []

    var checkIns: Set<Envelope.CheckIn> = []

    init(_ peer: PeerID, isOwn: Bool, generation: UInt64) {
        self.peer = peer
        self.isOwn = isOwn
        self.generation = generation
    }

    // MARK: own calls

    /// Whether the peer takes a call of that size now, and has heard how long answers may be. One alone is always taken, if
    /// it is not too long.
    func takes(_ size: Int) -> Bool {
        guard let hello, greeting == nil else { return false }
        return sent.isEmpty || sent.count < Int(hello.calls) && sentBytes + size <= Int(clamping: hello.bytes)
    }

    func call(_ number: CallNumber) -> (call: Pending, isSent: Bool)? {
        if let call = sent[number] { return (call, true) }
        return waiting[number].map { ($0.call, false) }
    }

    mutating func send(_ number: CallNumber, _ call: Pending) {
        sent[number] = call
        sentBytes += call.size
    }

    mutating func enqueue(_ number: CallNumber, _ call: Waiting) { waiting.append(number, call) }

    /// The first that waits.
    mutating func next() -> (number: CallNumber, bytes: [UInt8], waiter: Waiter)? {
        waiting.head().map { ($0.key, $0.value.bytes, $0.value.call.waiter) }
    }

    /// Makes one that waits one that was sent.
    mutating func release(_ number: CallNumber) {
        if let waiting = waiting.remove(number) { send(number, waiting.call) }
    }

    mutating func remove(_ number: CallNumber) -> (call: Pending, wasSent: Bool)? {
        if let call = sent.removeValue(forKey: number) {
            sentBytes -= call.size
            return (call, true)
        }
        return waiting.remove(number).map { ($0.call, false) }
    }

    /// All that were sent, the oldest first: the same events give the same actions.
    mutating func removeSent() -> [Pending] {
        defer { (sent, sentBytes) = ([:], 0) }
        return sent.sorted { $0.key < $1.key }.map(\.value)
    }

    mutating func removeWaiting() -> [Pending] { waiting.removeAll().map(\.call) }

    // MARK: the peer's calls

    /// Whether a call that was cancelled before it came, comes now.
    mutating func wasCancelled(_ number: CallNumber) -> Bool {
        guard let index = cancelledEarly.firstIndex(of: number) else { return false }
        cancelledEarly.remove(at: index)
        return true
    }

    /// Answers what runs for that call.
    mutating func cancel(_ number: CallNumber) -> Work? {
        if executions[number] != nil {
            executions[number]?.isCancelled = true
            return executions[number]?.work
        }
        if cancelledEarly.count >= 64 { cancelledEarly.removeFirst() }
        cancelledEarly.append(number)
        return nil
    }

    /// What the peer's system had here is gone; answers what it was.
    mutating func forget(_ generation: UInt64) -> (
        executions: [CallNumber: Execution], checkIns: Set<Envelope.CheckIn>
    ) {
        defer {
            self.generation = generation
            (executions, load, cancelledEarly, checkIns) = ([:], Load(), [], [])
            hello = nil
        }
        return (executions, checkIns)
    }
}
