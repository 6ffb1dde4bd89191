import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("14 Liveness", .computing)
struct LivenessTests {
    private func at(_ seconds: Double) -> Moment { Moment.start.later(seconds) }

    @Test(
        "after three seconds of silence a PING is sent, after ten the link ends [live.ping] [live.idle-timeout]"
    )
    func silence() {
        let end = End()
        #expect(end.link.deadline == at(3))
        end.advance(2.999)
        #expect(!end.wantsToSend)
        end.advance(0.001)
        #expect(end.frames() == [.ping(1)])
        #expect(end.link.deadline == at(10))
        end.advance(6.999)
        #expect(end.link.end == nil)
        end.advance(0.001)
        #expect(end.link.end == .timedOut)
        #expect(end.frames() == [.close(.timeout, reason: "")])
    }

    @Test("any byte ends the silence, even half a header [live.ping]")
    func anyByte() {
        let end = End()
        end.advance(3)
        #expect(end.frames() == [.ping(1)])
        end.receive([0])
        #expect(end.link.deadline == end.now + .seconds(3))
        end.advance(3)
        #expect(end.frames() == [.ping(2)])
    }

    @Test("a PING is answered with the same bytes, ahead of messages [live.pong]")
    func pong() {
        let end = End()
        end.link.enqueue([[1]])
        end.receive(.ping(0x0102_0304_0506_0708), .ping(0))
        #expect(end.frames() == [.pong(0x0102_0304_0506_0708), .pong(0), .message([1])])
    }

    @Test("a PONG gives the round-trip time; one without a PING is ignored [live.pong]")
    func roundTrip() {
        let end = End()
        end.advance(3)
        _ = end.frames()
        end.advance(0.25)
        end.receive(.pong(77))
        #expect(end.events() == [])
        end.receive(.pong(1), .pong(1))
        #expect(end.events() == [.roundTrip(.milliseconds(250))])
        #expect(end.link.statistics.roundTrip?.last == .milliseconds(250))
        #expect(end.link.end == nil)
    }

    @Test("a clock that jumped means a suspension: send a PING, and wait three seconds [live.resume]")
    func resume() {
        let end = End()
        end.advance(3 + 5.001)
        #expect(end.frames() == [.ping(1)])
        #expect(end.link.deadline == end.now + .seconds(3))
        end.advance(2.9)
        #expect(end.link.end == nil)
        end.advance(0.1)
        #expect(end.link.end == .timedOut)
    }

    @Test("a suspension during a PING gives extra time, too, and an answer keeps the link [live.resume]")
    func resumeAsked() {
        let end = End()
        end.advance(3)
        _ = end.frames()
        end.advance(3_600)
        #expect(end.link.end == nil)
        #expect(end.frames() == [.ping(2)])
        end.receive(.pong(2))
        #expect(end.link.deadline == end.now + .seconds(3))
    }

    @Test("a timer that is five seconds late is not yet a suspension [live.resume]")
    func late() {
        let end = End()
        end.advance(8)
        #expect(end.frames() == [.ping(1)])
        #expect(end.link.deadline == at(10))
        end.advance(2)
        #expect(end.link.end == .timedOut)
    }

    @Test("an early timer sends nothing [live.ping]", arguments: [0, 1, 2.9])
    func early(_ seconds: Double) {
        var liveness = Liveness(.init(), now: .start)
        let said = liveness.advance(to: at(seconds))
        #expect(said == .well)
        #expect(liveness.deadline == at(3))
    }

    @Test(
        "every phase and every input: byte received, early, due, suspended [live.ping] [live.idle-timeout] [live.resume]"
    )
    func everything() {
        func machine(_ asked: Bool) -> Liveness {
            var liveness = Liveness(.init(), now: .start)
            if asked { _ = liveness.advance(to: at(3)) }
            return liveness
        }
        let rows: [(Bool, Double, Liveness.Verdict, Double)] = [
            (false, 2, .well, 3), (false, 3, .ask, 10), (false, 8.5, .ask, 11.5),
            (true, 9, .well, 10), (true, 10, .dead, 10), (true, 15.5, .ask, 18.5),
        ]
        for (asked, moment, verdict, deadline) in rows {
            var liveness = machine(asked)
            let said = liveness.advance(to: at(moment))
            #expect(said == verdict)
            #expect(liveness.deadline == at(deadline))
            liveness.heard(at: at(moment))
            #expect(liveness.deadline == at(moment + 3))
        }
    }

    @Test("the intervals can be configured [live.idle-timeout]")
    func timing() {
        let end = End(
            .init(timing: .init(keepAliveInterval: .milliseconds(100), idleTimeout: .milliseconds(300))))
        end.advance(0.1)
        #expect(end.frames() == [.ping(1)])
        end.advance(0.2)
        #expect(end.link.end == .timedOut)
    }

    @Test(
        "a PING joins that of another link within the last third of the interval, and counts as one [live.ping]"
    )
    func joining() {
        for (moment, isPinged, deadline) in [(1.9, false, 3), (2, true, 10), (2.9, true, 10)]
            as [(Double, Bool, Double)]
        {
            var liveness = Liveness(.init(), now: .start)
            for isFirst in [true, false] {
                let isAsked = liveness.join(at: at(moment))
                #expect(isAsked == (isPinged && isFirst))
            }
            #expect(liveness.deadline == at(deadline))
        }
        let end = End()
        for (moment, frames) in [(1, []), (2.5, [.ping(1)])] as [(Double, [Frame])] {
            let isAsked = end.link.joinPing(at: at(moment))
            #expect(isAsked == !frames.isEmpty && end.frames() == frames)
        }
        end.advance(10)
        #expect(end.link.end == .timedOut)
    }

    @Test(
        "the ends take turns: one that was pinged pings next, a little earlier than the other would [live.ping]"
    )
    func turns() {
        for isFirst in [true, false] {
            var timing = Liveness.Timing()
            (timing.lead, timing.isFirst) = (.seconds(1), isFirst)
            var liveness = Liveness(timing, now: .start)
            #expect(liveness.deadline == at(isFirst ? 2 : 3))
            var said = liveness.advance(to: at(3))
            #expect(said == .ask)
            liveness.heard(at: at(3))
            #expect(liveness.deadline == at(6))
            let joins = liveness.join(at: at(5.9))
            #expect(!joins, "it is the peer's turn")
            liveness.pinged(isCrossing: false)
            #expect(liveness.deadline == at(5))
            said = liveness.advance(to: at(5))
            liveness.heard(at: at(5))
            // Both have pinged.
            liveness.pinged(isCrossing: true)
            #expect(said == .ask && liveness.deadline == at(isFirst ? 7 : 8))
        }
    }

    @Test("a probe is sent at once and its answer is distinguished [live.pong]")
    func probe() {
        let end = End()
        end.link.enqueue([[1]])
        end.link.probe()
        #expect(end.frames() == [.ping(1), .message([1])])
        end.receive(.pong(1))
        #expect(end.events() == [.roundTrip(.zero), .probeAnswered])
    }

    @Test("a mark after messages that wait is written with them, and not with what is sent next [live.ping]")
    func markWithMessages() {
        let end = End()
        end.link.enqueue([[1]])
        end.link.mark(1)
        #expect(end.frames() == [.message([1]), .ping(1)])
    }

    @Test("a mark is answered when everything before it was read, and not before [live.pong] [msg.order]")
    func marks() {
        let end = End(.init(remote: .small(credit: 70)))
        end.link.mark(1)
        end.link.enqueue([[1]])
        end.link.mark(2)
        end.link.mark(3)
        end.link.enqueue([[2]])
        #expect(end.frames() == [.ping(1), .message([1])])
        end.receive(.pong(1))
        #expect(end.events() == [.roundTrip(.zero), .markReached(1)])
        #expect(end.frames() == [.ping(2)])
        end.receive(.pong(2))
        #expect(end.events() == [.roundTrip(.zero), .markReached(2), .markReached(3)])
    }

    @Test(
        "an end that only receives sends PING after three seconds, and idle ends no more than before [live.one-sided]"
    )
    func oneSided() {
        let end = End()
        for _ in 0..<5 {
            end.advance(0.5)
            end.receive(.message([1]))
        }
        end.advance(0.499)
        #expect(end.frames() == [])
        end.advance(0.001)
        #expect(end.frames() == [.ping(1)])
        #expect(end.link.deadline == end.now.later(3 - 0.5), "nothing has changed but what was sent")
        end.receive(.ping(7))
        #expect(end.frames() == [.pong(7)])
        end.advance(2.9)
        end.receive(.ping(8), .message([1]))
        #expect(end.frames() == [.pong(8)])
        #expect(end.link.deadline == end.now.later(3))
    }

    @Test(
        "while PING waits in TCP each acknowledged byte counts; afterwards the peer has seven seconds [live.acknowledged]"
    )
    func acknowledged() {
        var liveness = Liveness(.init(), now: .start)
        func look(_ moment: Double, _ acknowledged: UInt64, of written: UInt64 = 900, ago: Double = 0) {
            let arrives = liveness.observed(
                DeliveryReport(
                    written: written, acknowledged: acknowledged,
                    sinceAcknowledgement: .milliseconds(ago * 1_000)),
                isWritten: moment > 3, at: at(moment))
            #expect(arrives)
        }
        #expect(liveness.advance(to: at(3)) == .ask)
        look(3, 100)
        #expect(liveness.deadline == at(3.5))
        #expect(liveness.advance(to: at(3.5)) == .look)
        look(3.5, 100)
        #expect(liveness.silence?.until == at(10))
        look(9.9, 200, ago: 0.4)
        #expect(liveness.silence?.until == at(19.5))
        look(15, 900, of: 5_000, ago: 1)
        #expect(liveness.silence?.until == at(21), "PING has arrived")
        look(16, 5_000, of: 5_000)
        #expect(liveness.silence?.until == at(21), "what came after it says nothing")
        #expect(liveness.advance(to: at(20.9)) == .look)
        look(20.9, 5_000, of: 5_000)
        #expect(liveness.deadline == at(21))
        #expect(liveness.advance(to: at(21)) == .look, "a last look")
        look(21, 5_000, of: 5_000)
        #expect(liveness.advance(to: at(21)) == .dead)
    }

    @Test("a PING that arrives just before its end is noticed by a last look [live.acknowledged]")
    func acknowledgedLate() {
        var liveness = Liveness(.init(), now: .start)
        func look(_ moment: Double, _ acknowledged: UInt64) {
            let report = DeliveryReport(written: 900, acknowledged: acknowledged, sinceAcknowledgement: .zero)
            let arrives = liveness.observed(report, isWritten: true, at: at(moment))
            #expect(arrives)
        }
        #expect(liveness.advance(to: at(3)) == .ask)
        look(3, 100)
        #expect(liveness.advance(to: at(9.9)) == .look)
        look(9.9, 100)
        #expect(liveness.advance(to: at(10)) == .look)
        look(10, 900)
        #expect(liveness.advance(to: at(10)) == .well)
        #expect(liveness.silence?.until == at(17))
    }

    @Test(
        "a link whose data is repeated for three seconds, though PING comes, has a path for small packets only [link.narrow]"
    )
    func large() {
        for isHeard in [true, false] {
            let end = End()
            end.link.enqueue([.ones(50_000)])
            _ = end.frames()
            let report = DeliveryReport(written: 50_000, acknowledged: 100, repetitions: 3)
            end.advance(2.9)
            if isHeard { end.receive(.ping(1)) }
            #expect(end.events() == (isHeard ? [.pinged] : []))
            end.advance(0.1)
            for _ in 0...6 {
                #expect(end.link.end == nil)
                end.link.observed(report, at: end.now)
                end.advance(0.5)
            }
            #expect(end.link.end == (isHeard ? .largePacketsLost : nil))
        }
    }
}
