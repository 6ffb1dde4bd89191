import MultipeerCore

/// The state of a loop's thread: the descriptors it watches, its clients, and the time of the turn.
final class LoopState {
    private struct Slot {
        var entry: ClientRegistry.Entry?
        var token = 0
        /// Counts the registrations of the descriptor, so that an event of an earlier one is recognised as stale.
        var generation: UInt32 = 0
    }

    private static let wakerKey = UInt64.max
    private static let farNanoseconds: Int64 = 1_000_000_000
    /// How long the loop waits for more messages of a burst: long enough that what they cost is not the turn, and not longer than
    /// a round trip in a radio network.
    private static let lookNanoseconds = 250_000

    /// How long a turn waits for events at its beginning.
    enum Wait {
        case no
        /// The loop looks again by itself, for the messages of a burst.
        case briefly
        case untilWoken
    }

    private let poller: LoopPoller
    private var slots: [Slot] = []
    private var ending: [ClientRegistry.Entry] = []
    var registry = ClientRegistry()
    private weak var buffers: LoopBuffers?
    private(set) var now = EventLoop.currentMoment()
    private(set) var burst = WakeupBurst()
    /// The client that took small messages in this turn, and whether there was other work.
    private var client: ObjectIdentifier?
    private var hasOtherWork = false

    init(waker: LoopWaker?) throws(SocketFault) {
        let kernel = try Poller()
        if let waker { try kernel.add(waker, key: LoopState.wakerKey) }
        poller = .kernel(kernel)
    }

    init(of host: VirtualHost?, at now: Moment) {
        poller = .virtual(VirtualPoller(host))
        self.now = now
    }

    func sharedBuffers() -> LoopBuffers {
        if let buffers { return buffers }
        let buffers = LoopBuffers()
        self.buffers = buffers
        return buffers
    }

    func register(
        _ descriptor: Int32, for client: any LoopClient, token: Int, interest: Readiness
    ) throws(SocketFault) {
        let index = Int(descriptor)
        while slots.count <= index { slots.append(Slot()) }
        precondition(slots[index].entry == nil, "descriptor \(descriptor) is registered already")
        slots[index].generation &+= 1
        try poller.add(descriptor, interest, key: key(of: index))
        slots[index].token = token
        slots[index].entry = registry.addRegistration(of: client)
    }

    func setInterest(_ descriptor: Int32, _ interest: Readiness) throws(SocketFault) {
        try poller.change(descriptor, interest, key: key(of: Int(descriptor)))
    }

    func deregister(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard slots.indices.contains(index), let entry = slots[index].entry else { return }
        slots[index].entry = nil
        // A descriptor that was closed first is no longer watched: nothing is left to undo.
        try? poller.remove(descriptor)
        registry.removeRegistration(of: entry)
    }

    /// Polls for events, and returns how many there are. Before that it waits until there is one, the loop is woken, or the next
    /// deadline comes; or at most for a moment.
    func wait(_ wait: Wait) -> Int {
        if wait == .briefly { poller.waitBriefly(nanoseconds: LoopState.lookNanoseconds) }
        let count = poller.wait(milliseconds: wait == .untilWoken ? pollTimeout() : 0)
        now = EventLoop.currentMoment()
        return count
    }

    /// Delivers the events that were found.
    func deliver(_ count: Int) {
        for index in 0..<count { deliver(poller.event(index)) }
    }

    /// Whether polling the sockets would find an event, in virtual time.
    var hasEvents: Bool { poller.hasEvents }

    func deliverDeadlines() {
        for entry in registry.due(at: now) where registry.expire(entry, at: now) {
            registry.touch(entry)
            entry.client.deadlineReached()
        }
    }

    func deliverWakeup(to client: any LoopClient) {
        client.wakeup.lower()
        registry.touch(client)
        client.wokenUp()
    }

    /// Notes that this client took small messages of other threads, which often queue more of them.
    func tookMessages(_ client: any LoopClient) {
        let client = ObjectIdentifier(client)
        if self.client != nil, self.client != client { hasOtherWork = true }
        self.client = client
    }

    /// Notes that the turn had work that is not a small message.
    func hadOtherWork() { hasOtherWork = true }

    /// Judges the turn as a whole.
    func noteTurn(after wait: Wait) {
        burst.note(WakeupBurst.Turn(client, hasOtherWork: hasOtherWork, looked: wait == .briefly), at: now)
        client = nil
        hasOtherWork = false
    }

    func endTurn() {
        registry.takeTouched(&ending)
        for entry in ending { entry.client.turnEnded() }
        ending.removeAll(keepingCapacity: true)
    }

    /// Releases every client: the thread is about to end.
    func close() {
        for index in slots.indices where slots[index].entry != nil { deregister(Int32(index)) }
        registry = ClientRegistry()
    }

    private func deliver(_ event: (key: UInt64, readiness: Readiness)) {
        if event.key == LoopState.wakerKey { return }
        let slot = slots[Int(event.key & 0xffff_ffff)]
        guard let entry = slot.entry, UInt64(slot.generation) == event.key >> 32 else { return }
        registry.touch(entry)
        hasOtherWork = true
        entry.client.ready(slot.token, event.readiness)
    }

    private func key(of index: Int) -> UInt64 { UInt64(slots[index].generation) << 32 | UInt64(index) }

    /// Returns milliseconds, rounded up so that a deadline has come when the wait is over.
    private func pollTimeout() -> Int32 {
        let deadline = registry.earliestDeadline()
        if deadline == .distantFuture { return -1 }
        // One that is far away may come late by the length of this turn: that saves reading the clock.
        let isFar = deadline.nanoseconds - now.nanoseconds >= LoopState.farNanoseconds
        let nanoseconds = deadline.nanoseconds - (isFar ? now : EventLoop.currentMoment()).nanoseconds
        // The kernel's wait stops while the machine sleeps, the clock does not: poll at least once a minute.
        return Int32(clamping: min(max((nanoseconds + 999_999) / 1_000_000, 0), 60_000))
    }
}
