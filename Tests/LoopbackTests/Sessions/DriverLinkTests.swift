import Dispatch
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerLink
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("6 Links in the driver", .inTurns)
struct DriverLinkTests {
    @Test(
        "a second session of a peer is refused with BUSY while the first answers, and the link stays [stale.busy]"
    )
    func busy() async throws {
        let brief = Session.Configuration.loopback(timeLimit: .seconds(4))
        let meeting = try Meeting(ann: brief, bob: brief)
        try await meeting.link()
        try await within { try await meeting.expectTalk() }
        let other = try Session(peer: meeting.bob.peer, configuration: brief)
        let (annsData, othersData) = (
            try await meeting.ann.connectionData(), try await other.connectionData()
        )
        async let toOther = meeting.ann.trying(othersData)
        async let fromOther = other.trying(annsData)
        let fared = await (toOther, fromOther)
        #expect(fared.0.error?.reason?.code == .timedOut)
        #expect(fared.1.error?.reason?.code == .timedOut)
        #expect("\(fared)".contains("BUSY"), "\(fared)")
        #expect(await other.connectedPeers.isEmpty)
        try await within { try await meeting.expectTalk() }
        await other.disconnect()
        await meeting.end()
    }

    @Test("a restarted peer replaces its dead link, and only then does connect return [stale.busy]")
    func restarted() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            // The first session still exists, and no peer receives anything from it any more.
            for tap in [annsTap, bobsTap] {
                let known = await tap.flows.count
                await tap.meddle { $0.flow < known ? .hold : .pass }
            }
            let fresh = try Session(peer: meeting.bob.peer, configuration: .loopback())
            let (annsData, freshData) = (
                try await meeting.ann.connectionData(), try await fresh.connectionData()
            )
            async let toFresh: Void = meeting.ann.connect(with: freshData)
            async let fromFresh: Void = fresh.connect(with: annsData)
            _ = try await (toFresh, fromFresh)
            try await meeting.ann.send([1], to: fresh.peer)
            #expect(try await within { await fresh.events.firstMessage() } == [1])
            await fresh.disconnect()
            await meeting.end()
        }
    }

    @Test(
        "a link whose SELECTED never arrived ends at both ends, and the two link again [link.timeouts] [select.next]"
    )
    func unselected() async throws {
        try await withTaps { annsTap, bobsTap in
            // Ann, the lower, selects; what bob sends after her first SELECT does not come through. Which
            // connection she selects depends on which of them is confirmed first.
            let cut = Locked<(tap: ObjectIdentifier, flow: Int)?>(nil)
            // Not the taps themselves, which keep these closures.
            let bobs = ObjectIdentifier(bobsTap)
            for tap in [annsTap, bobsTap] {
                let id = ObjectIdentifier(tap)
                await tap.meddle { chunk in
                    cut.withLock { cut in
                        if cut == nil, chunk.isSelected { cut = (id, chunk.flow) }
                        guard let cut, cut == (id, chunk.flow) else { return .pass }
                        return chunk.from == (id == bobs ? .listener : .dialler)
                            ? .replace([]) : .pass
                    }
                }
            }
            let meeting = try Meeting.annFirst(
                ann: .loopback(.none).tapped(by: annsTap), bob: .loopback(.none).tapped(by: bobsTap))
            async let linked: Void = meeting.link()
            let end = try await within { await meeting.bob.events.firstEnd() }
            #expect(end?.code == .timedOut && end?.closeCode == .timeout)
            #expect(try await within { await meeting.bob.events.firstState() } == .connecting)
            try await linked
            #expect(try await within { await meeting.bob.events.firstState() } == .connected)
            try await within { try await meeting.expectTalk() }
            await meeting.end()
        }
    }

    @Test(
        "SELECTED is sent before anyone is notified of the link: a process may end the moment it is [select.answer]"
    )
    func selectedFirst() async throws {
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback())
        let guest = BlockingGuest()
        #expect(await bob.driver.admit(guest))
        let ann = try HandMadePeer(meeting: try await bob.connectionData(), isLower: true)
        let data = ann.data
        async let connected: Void = bob.connect(with: data)
        for await event in bob.events { if case .peer(_, .connecting) = event { break } }
        try await ann.link()
        guest.gate.signal()
        _ = try await connected
        #expect(guest.wasInTime.withLock { $0 } == true)
        await bob.disconnect()
    }

    @Test("leaving before SELECTED has arrived says goodbye: the peer has a link by then [close.goodbye]")
    func leaving() async throws {
        try await withTaps { annsTap, bobsTap in
            // What follows SELECTED is cut, too: without it, a frame of the link would break the protocol.
            for tap in [annsTap, bobsTap] {
                let cut = Locked<[Int: Tap.Side]>([:])
                await tap.meddle { chunk in
                    cut.withLock { cut in
                        if chunk.isSelected { cut[chunk.flow] = chunk.from }
                        return cut[chunk.flow] == chunk.from ? .replace([]) : .pass
                    }
                }
            }
            let meeting = try Meeting.annFirst(
                ann: .loopback(.none).tapped(by: annsTap), bob: .loopback(.none).tapped(by: bobsTap))
            let (annsData, bobsData) = (
                try await meeting.ann.connectionData(), try await meeting.bob.connectionData()
            )
            async let fromAnn = meeting.ann.trying(bobsData)
            async let fromBob = meeting.bob.trying(annsData)
            #expect(await fromBob.isLinked)
            await meeting.ann.disconnect()
            #expect(await fromAnn.error?.reason?.code == .cancelled)
            let end = try await within { await meeting.bob.events.firstEnd() }
            #expect(end?.code == .goodbye)
            await meeting.end()
        }
    }

    @Test(
        "messages that were accepted and not delivered are counted in the end's event [msg.failed] [state.reason]"
    )
    func undelivered() async throws {
        try await withTaps { annsTap, bobsTap in
            let brief = Session.Configuration.loopback().with {
                $0.keepAliveInterval = .milliseconds(500)
                $0.idleTimeout = .seconds(4)
            }
            let meeting = try Meeting(
                ann: brief.tapped(by: annsTap), bob: brief.tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            // What bob has received so far was taken, and its credit was not yet returned to ann: 6 bytes and their
            // overhead.
            for tap in [annsTap, bobsTap] { await tap.meddle { _ in .hold } }
            let message = [UInt8](repeating: 7, count: 65_536)
            // Credit lets 63 through; what is accepted after them stays here.
            for _ in 0..<100 { try await meeting.ann.send(message, to: meeting.bob.peer) }
            let end = try #require(try await within { await meeting.ann.events.firstEnd() })
            #expect(end.code == .timedOut)
            #expect(end.undelivered == DisconnectReason.Undelivered(messages: 37, bytes: 37 * 65_536))
            #expect("\(end)".contains("37 messages (2424832 bytes) not sent"))
            await meeting.end()
        }
    }

    @Test("waiting for the trust decision does not block the loop [trust.before-confirm]")
    func questionsOffTheLoop() async throws {
        let isOnLoop = Locked<[Bool]>([])
        let identity = try Identity.generate()
        let meeting = try Meeting(
            ann: .loopback().with {
                $0.trust = .ask { _ in
                    let isLoops = (0..<4).map { _ in (try? EventLoop.next())?.isOnLoop ?? true }
                    isOnLoop.withLock { $0 = isLoops }
                    return true
                }
            }, bob: .loopback(identity: identity))
        try await meeting.link()
        #expect(isOnLoop.withLock { $0 } == [false, false, false, false])
        await meeting.end()
    }
}

/// Blocks the loop when a link is made, until the other end has noticed, or for ten seconds.
private final class BlockingGuest: SubprotocolHandler {
    let mark: UInt32 = 0xFFFF_FFFF
    let gate = DispatchSemaphore(value: 0)
    let wasInTime = Locked<Bool?>(nil)

    func linkMade(to peer: PeerID) {
        let outcome = gate.wait(timeout: .now() + 10)
        wasInTime.withLock { $0 = outcome == .success }
    }
    func linkEnded(to peer: PeerID, _ reason: DisconnectReason) {}
    func arrived(_ messages: [IncomingMessage], from peer: PeerID) {}
    func takes(_ event: Session.Event) -> Bool { false }
}

extension Tap.Chunk {
    /// Whether the controlled end sends SELECTED here, in clear.
    fileprivate var isSelected: Bool {
        bytes.starts(with: [0, 0, 0, FrameKind.selected.rawValue, 0, 0, 0, 0])
    }
}
