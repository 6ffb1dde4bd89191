import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh

/// What is known of one linked peer, and under way with it.
struct Correspondent<Work: Sendable>: Sendable {
    /// How much is under way.
    struct Load: Equatable, Sendable {
        var calls = 0
        var bytes = 0

        mutating func add(_ size: Int) {
            calls += 1
            bytes += size
        }

        mutating func remove(_ size: Int) {
            calls -= 1
            bytes -= size
        }
    }

    /// A call that this side executes.
    struct Incoming: Sendable {
        let size: Int
        /// Set once it runs.
        var work: Work?
        var isCancelled = false
    }

    /// Nil until the peer's system has said it.
    var hello: Envelope.Hello?
    var isIncompatible = false

    /// Own calls that were sent and are not answered.
    var sent = Load()
    /// Own calls that wait until the peer takes more, those before `served` gone.
    var queue: [CallNumber] = []
    var served = 0

    var incoming: [CallNumber: Incoming] = [:]
    var incomingLoad = Load()
    var newestCall: CallNumber = 0
    /// Calls that were cancelled before they arrived: the last few.
    var cancelledEarly: [CallNumber] = []

    var checkIns: Set<Envelope.CheckIn> = []

    /// Whether the peer takes a call of that size now. One alone is always taken, if it is not too long.
    func takes(_ size: Int) -> Bool {
        guard let hello else { return false }
        return sent.calls == 0
            || sent.calls < Int(hello.calls) && sent.bytes + size <= Int(clamping: hello.bytes)
    }

    var isQueueEmpty: Bool { served == queue.count }
    /// The first that waits.
    var next: CallNumber? { isQueueEmpty ? nil : queue[served] }

    mutating func dequeue() {
        served += 1
        if isQueueEmpty {
            queue.removeAll(keepingCapacity: true)
            served = 0
        }
    }

    /// Whether a call that was cancelled before it came, comes now.
    mutating func wasCancelled(_ number: CallNumber) -> Bool {
        newestCall = max(newestCall, number)
        guard let index = cancelledEarly.firstIndex(of: number) else { return false }
        cancelledEarly.remove(at: index)
        return true
    }

    /// Answers what runs for that call.
    mutating func cancel(_ number: CallNumber) -> Work? {
        if incoming[number] != nil {
            incoming[number]?.isCancelled = true
            return incoming[number]?.work
        }
        if number > newestCall {
            if cancelledEarly.count >= 64 { cancelledEarly.removeFirst() }
            cancelledEarly.append(number)
        }
        return nil
    }

    mutating func enqueue(_ number: CallNumber) {
        if served > 64, served * 2 > queue.count {
            queue.removeFirst(served)
            served = 0
        }
        queue.append(number)
    }
}
