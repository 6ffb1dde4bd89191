import Glibc
import MultipeerIntroduction

/// Notices that time has passed which nobody lived through: the machine slept, or the process was stopped.
struct ClockWatch {
    /// A deadline that is missed by more was not missed by a busy machine.
    private static let gap = Duration.seconds(2)
    /// How often it looks, when nothing else happens.
    private static let beat = Duration.seconds(10)

    private var expected = Moment.distantFuture
    private var asleep: Int64
    private(set) var nextBeat: Moment

    init() {
        asleep = ClockWatch.timeAsleep()
        nextBeat = EventLoop.currentMoment() + ClockWatch.beat
    }

    /// The owner is to be called by then.
    mutating func expect(_ deadline: Moment) { expected = deadline }

    /// Answers whether there was a gap.
    mutating func notice(_ now: Moment) -> Bool {
        let asleep = ClockWatch.timeAsleep()
        let slept = Duration.nanoseconds(asleep &- self.asleep)
        self.asleep = asleep
        let isLate = now > expected + ClockWatch.gap
        expected = .distantFuture
        return isLate || slept > ClockWatch.gap
    }

    /// Answers whether it is time for what is done now and then.
    mutating func isBeat(at now: Moment) -> Bool {
        if now < nextBeat { return false }
        nextBeat = now + ClockWatch.beat
        return true
    }

    /// One clock counts while the machine sleeps, the other does not.
    private static func timeAsleep() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let awake = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return EventLoop.currentMoment().nanoseconds &- awake
    }
}
