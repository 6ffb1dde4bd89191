import MultipeerCore

/// What belongs to the thread of a loop: the descriptors it watches, its clients, and the time of the turn.
final class LoopWatch {
    private struct Slot {
        var entry: LoopRoll.Entry?
        var token = 0
        /// Counts the registrations of the descriptor, so that an event of an earlier one is recognised as stale.
        var generation: UInt32 = 0
    }

    private static let bellKey = UInt64.max

    private let poller: EventSource
    private var slots: [Slot] = []
    private var ending: [LoopRoll.Entry] = []
    var roll = LoopRoll()
    private(set) var now = EventLoop.currentMoment()

    init(bell: Int32) throws(SocketFault) {
        let kernel = try Poller()
        try kernel.addEdge(bell, key: LoopWatch.bellKey)
        poller = .kernel(kernel)
    }

    init(of host: VirtualHost?, at now: Moment) {
        poller = .virtual(VirtualPoller(host))
        self.now = now
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
        slots[index].entry = roll.addRegistration(of: client)
    }

    func setInterest(_ descriptor: Int32, _ interest: Readiness) throws(SocketFault) {
        try poller.change(descriptor, interest, key: key(of: Int(descriptor)))
    }

    func deregister(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard slots.indices.contains(index), let entry = slots[index].entry else { return }
        slots[index].entry = nil
        // A descriptor that was closed first is not watched any more: nothing is left to undo.
        try? poller.remove(descriptor)
        roll.removeRegistration(of: entry)
    }

    /// Looks for events, and returns how many there are; asleep, waits until there is one, somebody rings, or the next
    /// deadline comes.
    func wait(asleep: Bool) -> Int {
        let count = poller.wait(milliseconds: asleep ? patience() : 0)
        now = EventLoop.currentMoment()
        return count
    }

    /// Delivers the events that were found.
    func deliver(_ count: Int) {
        for index in 0..<count { deliver(poller.event(index)) }
    }

    /// Whether a look at the sockets would find something, in virtual time.
    var hasEvents: Bool { poller.hasEvents }

    func deliverDeadlines() {
        for entry in roll.due(at: now) where roll.expire(entry, at: now) {
            roll.touch(entry)
            entry.client.deadlineReached()
        }
    }

    func deliverPoke(to client: any LoopClient) {
        client.poke.lower()
        roll.touch(client)
        client.poked()
    }

    func endTurn() {
        roll.takeTouched(&ending)
        for entry in ending { entry.client.turnEnded() }
        ending.removeAll(keepingCapacity: true)
    }

    /// Lets go of every client: the thread is about to end.
    func close() {
        for index in slots.indices where slots[index].entry != nil { deregister(Int32(index)) }
        roll = LoopRoll()
    }

    private func deliver(_ event: (key: UInt64, readiness: Readiness)) {
        if event.key == LoopWatch.bellKey { return }
        let slot = slots[Int(event.key & 0xffff_ffff)]
        guard let entry = slot.entry, UInt64(slot.generation) == event.key >> 32 else { return }
        roll.touch(entry)
        entry.client.ready(slot.token, event.readiness)
    }

    private func key(of index: Int) -> UInt64 { UInt64(slots[index].generation) << 32 | UInt64(index) }

    /// In milliseconds, rounded up so that a deadline has come when the wait is over.
    private func patience() -> Int32 {
        let deadline = roll.earliestDeadline()
        if deadline == .distantFuture { return -1 }
        let nanoseconds = deadline.nanoseconds - EventLoop.currentMoment().nanoseconds
        // The kernel's wait stands still while the machine sleeps, the clock does not: look once a minute.
        return Int32(clamping: min(max((nanoseconds + 999_999) / 1_000_000, 0), 60_000))
    }
}
