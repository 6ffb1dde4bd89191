import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("Wakeup burst", .computing)
struct WakeupBurstTests {
    private let driver = Driver()
    private let other = Driver()
    private var id: ObjectIdentifier { ObjectIdentifier(driver) }

    @Test("small messages that keep waking the loop become a burst")
    func begins() {
        var run = Run()
        run.note(7, .init(id))
        #expect(run.burst.client == nil)
        run.note(1, .init(id))
        #expect(run.burst.client == id)
    }

    @Test("messages with pauses between them are none")
    func pauses() {
        var run = Run(step: .microseconds(200))
        run.note(100, .init(id))
        #expect(run.burst.client == nil)
    }

    @Test("two peers that answer each other are none, and a burst survives a rare answer")
    func answers() {
        var run = Run()
        for _ in 0..<100 {
            run.note(1, .init(id))
            run.note(1, .init(nil, hasOtherWork: true))
        }
        #expect(run.burst.client == nil)
        run.note(16, .init(id))
        run.note(1, .init(id, hasOtherWork: true))
        #expect(run.burst.client == id)
    }

    @Test("messages to two clients by turns are none")
    func clients() {
        var run = Run()
        for _ in 0..<100 {
            run.note(1, .init(id))
            run.note(1, .init(ObjectIdentifier(other)))
        }
        #expect(run.burst.client == nil)
    }

    @Test("it lasts while the loop finds messages by itself, and ends when it finds none")
    func ends() {
        var run = Run()
        run.note(8, .init(id))
        run.step = .milliseconds(3)
        run.note(100, .init(id, looked: true))
        #expect(run.burst.client == id)
        run.note(1, .init(nil, looked: true))
        #expect(run.burst.client == nil)
    }

    private final class Driver: Sendable {}

    private struct Run {
        var burst = WakeupBurst()
        var step = Duration.microseconds(20)
        private var now = Moment(nanoseconds: 0)

        init(step: Duration = .microseconds(20)) { self.step = step }

        mutating func note(_ times: Int, _ turn: WakeupBurst.Turn) {
            for _ in 0..<times {
                now = now + step
                burst.note(turn, at: now)
            }
        }
    }
}
