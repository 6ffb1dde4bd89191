import Glibc
import Multipeer
import MultipeerLink
import MultipeerTransport
import TestSupport
import Testing

@Suite("14 Liveness over loopback", .inTurns)
struct LivenessTests {
    static let brief = Session.Configuration.loopback().with {
        $0.keepAliveInterval = .milliseconds(500)
        $0.idleTimeout = .seconds(3)
    }

    @Test("a silent peer is disconnected in time, at both ends [live.ping] [live.idle-timeout]")
    func dead() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: Self.brief.tapped(by: annsTap), bob: Self.brief.tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            let start = ContinuousClock.now
            for tap in [annsTap, bobsTap] { await tap.meddle { _ in .hold } }
            let ends = try await within {
                (await meeting.ann.events.firstEnd(), await meeting.bob.events.firstEnd())
            }
            let passed = ContinuousClock.now - start
            #expect(ends.0?.code == .timedOut)
            #expect(ends.1?.code == .timedOut)
            #expect(passed > .seconds(2) && passed < .seconds(20), "\(passed)")
            await meeting.end()
        }
    }

    @Test("TCP ends a link after the same time, at both ends [live.user-timeout]")
    func backstop() async throws {
        // A time that no other socket of this process has.
        let configuration = Session.Configuration.loopback().with { $0.idleTimeout = .milliseconds(17_321) }
        let meeting = try Meeting(ann: configuration, bob: configuration)
        #expect(Self.sockets(givingUpAfter: 17_321) == 0)
        try await meeting.link()
        #expect(Self.sockets(givingUpAfter: 17_321) == 2)
        await meeting.end()
    }

    /// Returns the number of sockets of this process whose TCP_USER_TIMEOUT is this, in milliseconds.
    private static func sockets(givingUpAfter milliseconds: Int32) -> Int {
        (0..<4_096).count { (descriptor: Int32) in
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            let code = unsafe getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &size)
            return code == 0 && value == milliseconds
        }
    }

    @Test("an idle link stays [live.pong]")
    func idle() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: Self.brief.tapped(by: annsTap), bob: Self.brief.tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            let isAnns = await meeting.bob.connectionInfo(for: meeting.ann.peer)?.isDialled == true
            let tap = isAnns ? annsTap : bobsTap
            let before = await tap.flows.map(\.fromListener.count).max() ?? 0
            // A PING or PONG is 38 bytes on the wire: ten of them take longer than the idle timeout.
            try await within {
                await tap.until { ($0.map(\.fromListener.count).max() ?? 0) >= before + 10 * 38 }
            }
            try await within { try await meeting.expectTalk() }
            #expect(await meeting.ann.connectionInfo(for: meeting.bob.peer)?.statistics.roundTrip != nil)
            await meeting.end()
        }
    }
}
