import Multipeer
import MultipeerDiscovery
import MultipeerHandshake
import MultipeerTransport
import TestSupport
import Testing

@Suite("1 Cancelling a task", .inTurns)
struct CancellationTests {
    private static let cancelled = MultipeerError(.cancelled, "")

    @Test("a waiting loop ends, over events, invitations and a browser's events")
    func loops() async throws {
        let ann = try Caller("ann", try Ground.memory.network())
        let loops = [
            Task { for await _ in ann.session.events {} },
            Task { for await _ in ann.advertiser.invitations {} },
            Task { for await _ in ann.browser.events {} },
        ]
        for loop in loops { loop.cancel() }
        for loop in loops { try await within { await loop.value } }
        await ann.stop()
    }

    @Test("an attempt throws cancelled, through its task, cancelConnecting and disconnect", arguments: 0..<3)
    func connecting(_ way: Int) async throws {
        let meeting = try Meeting(ann: .loopback(timeLimit: .seconds(60)))
        let data = try await meeting.bob.connectionData()
        _ = try await meeting.ann.connectionData()
        let search = Task { try await meeting.ann.connect(with: data) }
        #expect(try await within { await meeting.ann.events.firstState() } == .connecting)
        switch way {
        case 0: search.cancel()
        case 1: await meeting.ann.cancelConnecting(to: meeting.bob.peer)
        default: await meeting.ann.disconnect()
        }
        await #expect(throws: Self.cancelled) { try await within { try await search.value } }
        await meeting.end()
    }

    @Test("waiting for a peer to receive everything, or to accept more of a stream, throws cancelled")
    func blocked() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            let stream = try await meeting.ann.openStream(to: meeting.bob.peer, name: "x")
            for tap in [annsTap, bobsTap] { await tap.meddle { _ in .hold } }
            let (ann, bob) = (meeting.ann, meeting.bob.peer)
            let waits = [
                Task { try await ann.waitUntilReceived(by: bob) },
                Task { while true { try await stream.write([UInt8](repeating: 1, count: 65_536)) } },
                Task { while true { try await ann.send([UInt8](repeating: 1, count: 65_536), to: bob) } },
                Task { _ = try await ann.verificationCode(for: bob) },
            ]
            for wait in waits { wait.cancel() }
            for wait in waits {
                await #expect(throws: Self.cancelled) { try await within { try await wait.value } }
            }
            await ann.disconnect(within: .zero)
            await meeting.end()
        }
    }

    @Test("a call that need not wait works in a cancelled task, too")
    func nothingToWaitFor() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let sending = Task { [ann = meeting.ann, bob = meeting.bob.peer] in
            while !Task.isCancelled { await Task.yield() }
            try await ann.send([1, 2, 3], to: bob)
        }
        sending.cancel()
        try await sending.value
        #expect(try await within { await meeting.bob.events.firstMessage() } == [1, 2, 3])
        await meeting.end()
    }
}
