import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@Suite("14 What TCP knows", .computing)
struct TransmissionTests {
    private func at(_ seconds: Double) -> Moment {
        Moment(nanoseconds: 1_000_000_000_000) + .milliseconds((seconds * 1_000).rounded())
    }

    @Test("what goes ahead of PING is half a second of what the network carries [live.ahead]")
    func ahead() {
        var ahead = SendAhead(isMeasured: true)
        #expect(ahead.isDue(at: at(0)) && ahead.limit == SendAhead.initial)
        let rows: [(UInt64, Bool, Int)] = [
            (20_000, false, 10_000), (1_000, false, 4_096), (1_000_000_000, true, 65_536),
            (100, true, 65_536),
            (0, false, 65_536), (.max, false, 65_536),
        ]
        for (rate, isLow, limit) in rows {
            let before = ahead.limit
            let hasChanged = ahead.measured(rate, isLow: isLow, at: at(1))
            #expect(ahead.limit == limit && hasChanged == (limit != before))
            #expect(!ahead.isDue(at: at(1.04)) && ahead.isDue(at: at(1.25)))
        }
        #expect(SendAhead(isMeasured: false).limit == 65_536)
    }

    @Test(
        "without a limit of its own, TCP is kept from giving up and from waiting, about a second ahead [live.repeat]"
    )
    func timeout() {
        var timeout = UserTimeout(.seconds(10))
        var state = TransmissionState()
        func next(_ moment: Double, isLimited: Bool = false) -> Duration? {
            timeout.next(state, since: at(0), until: at(10), isLimited: isLimited, at: at(moment))
        }
        state.isWaiting = true
        #expect(next(3) == nil, "an answered PING costs nothing")
        #expect(timeout.reset() == nil)
        #expect(next(3) == nil)
        (state.repetitions, state.sinceSent) = (1, .milliseconds(280))
        #expect(next(3.5) == .milliseconds(300 + 1_500), "from the first repetition on, and a little")
        (state.repetitions, state.timeout, state.isBackingOff) = (2, .seconds(1), true)
        #expect(next(4) == .milliseconds(800 + 1_500))
        (state.repetitions, state.timeout) = (5, .seconds(8))
        #expect(next(8.5) == .milliseconds(5_300 + 500), "more often near the end")
        #expect(next(9.9) == .milliseconds(6_700 + 400))
        state.isWaiting = false
        #expect(next(9.9) == .seconds(10), "a receiver that takes nothing ends the link by its own timeout")
        state.isWaiting = true
        #expect(next(9.9) == .milliseconds(400))
        #expect(timeout.reset() == .seconds(10))
        (state.sinceSent, state.timeout) = (.seconds(4), .milliseconds(250))
        #expect(next(4, isLimited: true) == nil && next(5, isLimited: true) == nil)
        #expect(next(9, isLimited: true) == .milliseconds(5_020 + 400))
        #expect(next(5, isLimited: true) == .seconds(10))
        // What was repeated before the first look.
        _ = timeout.reset()
        (state.repetitions, state.isBackingOff) = (4, true)
        (state.timeout, state.sinceSent) = (.milliseconds(3_200), .milliseconds(100))
        #expect(next(3) == nil && next(3.5) == .milliseconds(3_320 + 1_500))
    }

    @Test(
        "a dialled connection without progress for two seconds has a path for small packets only [link.narrow]"
    )
    func watch() {
        var state = TransmissionState()
        (state.isWaiting, state.acknowledged, state.received) = (true, 1, 0)
        state.sinceAcknowledgement = .seconds(5)
        var watch = DialWatch(at: at(0))
        #expect(watch.nextLook == at(2))
        #expect(watch.look(state, awaitsReply: true, at: at(2)) == .narrow)
        state.roundTrip = .seconds(1)
        #expect(watch.look(state, awaitsReply: true, at: at(2.9)) == .wait, "three round trips")
        state.received = 500
        #expect(watch.look(state, awaitsReply: true, at: at(3)) == .wait)
        #expect(watch.look(state, awaitsReply: true, at: at(5.9)) == .wait)
        #expect(watch.look(state, awaitsReply: true, at: at(6)) == .narrow)
        state.isWaiting = false
        #expect(watch.look(state, awaitsReply: false, at: at(6)) == .arrived)
        watch.secured(at: at(7))
        state.roundTrip = .zero
        #expect(watch.look(state, awaitsReply: true, at: at(9)) == .wait)
        #expect(watch.look(state, awaitsReply: true, at: at(9.75)) == .narrow)
    }

    @Test("narrow paths are remembered for ten minutes, 64 of them at most [link.narrow]")
    func narrow() {
        var paths = NarrowPaths()
        func host(_ number: UInt32) -> SocketAddress.Host { .v4(0x0a00_0000 + number) }
        #expect(paths.segment(to: host(1), at: at(0)) == nil)
        paths.note(host(1), carriesHandshake: true, at: at(0))
        #expect(paths.segment(to: host(1), at: at(599)) == NarrowPaths.medium)
        paths.note(host(1), carriesHandshake: true, at: at(1))
        #expect(paths.segment(to: host(1), at: at(600.9)) == NarrowPaths.small)
        #expect(paths.segment(to: host(1), at: at(601)) == nil)
        paths.note(host(2), carriesHandshake: false, at: at(2))
        #expect(paths.segment(to: .v6(high: 0, low: 0xffff_0a00_0002), at: at(3)) == NarrowPaths.small)
        paths.forget(host(2))
        #expect(paths.segment(to: host(2), at: at(3)) == nil)
        for number in 10..<74 as Range<UInt32> { paths.note(host(number), carriesHandshake: true, at: at(4)) }
        #expect(paths.segment(to: host(1), at: at(5)) == nil && paths.segment(to: host(73), at: at(5)) != nil)
    }
}
