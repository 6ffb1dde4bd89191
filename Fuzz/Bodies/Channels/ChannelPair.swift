import MultipeerCore

/// Two links that keep the rules, the connection between them, and applications that do anything. Neither link may
/// report a violation of the other, no byte is lost or moved, and every channel that is finished ends exactly once.
struct ChannelPair: ~Copyable {
    private var first: ChannelEnd
    private var second: ChannelEnd
    private var now = Moment(nanoseconds: 1_000_000_000)

    init() {
        first = ChannelEnd(now: now)
        second = ChannelEnd(now: now)
    }

    mutating func step(_ input: inout InputReader) throws(BrokenPromise) {
        let operation = input.byte()
        // Time for the budgets: applications act within it.
        now = now + .milliseconds(10)
        if operation & 0x0F == 0 {
            try deliver(Int(input.byte()) * 8, toFirst: operation & 0x80 == 0)
        } else if operation & 0x80 == 0 {
            try first.step(operation & 0x0F, UInt32(input.byte()), &input, at: now)
        } else {
            try second.step(operation & 0x0F, UInt32(input.byte()), &input, at: now)
        }
    }

    private mutating func deliver(_ count: Int, toFirst: Bool) throws(BrokenPromise) {
        if toFirst {
            try first.receive(second.takeOutput(count), from: second.ours, at: now)
        } else {
            try second.receive(first.takeOutput(count), from: first.ours, at: now)
        }
    }

    /// Delivers, takes and finishes everything.
    mutating func settle() throws(BrokenPromise) {
        first.finishEverything()
        second.finishEverything()
        var rounds = 0
        while rounds < 600, !(first.isSettled && second.isSettled) {
            rounds += 1
            now = now + .milliseconds(100)
            try first.takeEverything(at: now)
            try second.takeEverything(at: now)
            try deliver(.max, toFirst: true)
            try deliver(.max, toFirst: false)
        }
        try first.isOver()
        try second.isOver()
    }
}
