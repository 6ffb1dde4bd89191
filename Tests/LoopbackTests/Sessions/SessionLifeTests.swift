import Multipeer
import MultipeerCore
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("14 The life of a session", .inTurns)
struct SessionLifeTests {
    @Test("a second connect joins the first, and connecting to a linked peer returns at once")
    func twice() async throws {
        let meeting = try Meeting()
        let (annsData, bobsData) = (
            try await meeting.ann.connectionData(), try await meeting.bob.connectionData()
        )
        async let first: Void = meeting.ann.connect(with: bobsData)
        async let second: Void = meeting.ann.connect(meeting.bob.peer, with: bobsData)
        async let other: Void = meeting.bob.connect(with: annsData)
        _ = try await (first, second, other)
        try await meeting.ann.connect(with: bobsData)
        #expect(await meeting.ann.connectedPeers == [meeting.bob.peer])
        try await within { try await meeting.expectTalk() }
        await meeting.end()
    }

    @Test("a session does not connect to itself [data.self]")
    func itself() async throws {
        let meeting = try Meeting()
        let fared = await meeting.ann.trying(try await meeting.ann.connectionData())
        #expect(fared.error?.reason?.code == .selfConnection)
        await meeting.end()
    }

    @Test("data addressed to another peer, and data of another, are refused at once [data.recipient]")
    func misdirected() async throws {
        let meeting = try Meeting()
        _ = try await meeting.bob.connectionData()
        let stranger = try PeerID(displayName: "carl")
        let forCarl = try await meeting.ann.connectionData(for: stranger)
        #expect(await meeting.bob.trying(forCarl).error?.reason?.code == .unknownPeer)
        await #expect(throws: MultipeerError(.invalidConnectionData, "")) {
            try await meeting.bob.connect(stranger, with: meeting.ann.connectionData(for: meeting.bob.peer))
        }
        await meeting.end()
    }

    @Test(
        "addressed data links the two peers for which it was made, and is the same every time [data.idempotent]"
    )
    func addressed() async throws {
        let meeting = try Meeting()
        let annsData = try await meeting.ann.connectionData(for: meeting.bob.peer)
        let bobsData = try await meeting.bob.connectionData(for: meeting.ann.peer)
        async let first: Void = meeting.ann.connect(with: bobsData)
        async let second: Void = meeting.bob.connect(with: annsData)
        _ = try await (first, second)
        #expect(try await meeting.ann.connectionData(for: meeting.bob.peer) == annsData)
        try await within { try await meeting.expectTalk() }
        await meeting.end()
    }

    @Test("a cancelled attempt ends at once, by call and by task [link.cancel]")
    func cancel() async throws {
        let meeting = try Meeting(ann: .loopback(timeLimit: .seconds(60)))
        _ = try await meeting.ann.connectionData()
        let bobsData = try await meeting.bob.connectionData()
        let first = Task { await meeting.ann.trying(bobsData) }
        #expect(try await within { await meeting.ann.events.firstState() } == .connecting)
        await meeting.ann.cancelConnecting(to: meeting.bob.peer)
        #expect(try await within { await first.value }.error?.reason?.code == .cancelled)
        let second = Task { await meeting.ann.trying(bobsData) }
        #expect(try await within { await meeting.ann.events.firstEnd() }?.code == .cancelled)
        #expect(try await within { await meeting.ann.events.firstState() } == .connecting)
        second.cancel()
        #expect(try await within { await second.value }.isLinked == false)
        // A search that was given up can be begun again.
        try await meeting.link()
        await meeting.ann.cancelConnecting(to: meeting.bob.peer)
        try await within { try await meeting.expectTalk() }
        await meeting.end()
    }

    @Test(
        "a 33rd attempt is refused while 32 are pending, and accepted when one is cancelled [limit.expected]")
    func awaited() async throws {
        let ann = try Session(
            peer: PeerID(displayName: "ann"), configuration: .loopback(timeLimit: .seconds(60)))
        _ = try await ann.connectionData()
        let others = try (0..<33).map {
            try Session(peer: PeerID(displayName: "peer \($0)"), configuration: .loopback())
        }
        let data = try await others.asyncMap { try await $0.connectionData() }
        let searches = data.prefix(32).map { data in Task { await ann.trying(data) } }
        for _ in searches { #expect(try await within { await ann.events.firstState() } == .connecting) }
        #expect(await ann.trying(data[32]).error?.reason?.code == .busy)
        await ann.cancelConnecting(to: others[0].peer)
        #expect(await searches[0].value.error?.reason?.code == .cancelled)
        let last = Task { await ann.trying(data[32]) }
        #expect(try await within { await ann.events.firstEnd() }?.code == .cancelled)
        #expect(try await within { await ann.events.firstState() } == .connecting)
        await ann.disconnect()
        for search in searches + [last] { #expect(await search.value.error?.reason?.code == .cancelled) }
        for other in others { await other.disconnect() }
    }

    @Test("without an answer the attempt times out [link.deadline]")
    func nobody() async throws {
        let meeting = try Meeting(ann: .loopback(timeLimit: .seconds(1)))
        _ = try await meeting.ann.connectionData()
        let start = ContinuousClock.now
        let fared = await meeting.ann.trying(try await meeting.bob.connectionData())
        let passed = ContinuousClock.now - start
        #expect(fared.error?.reason?.code == .timedOut)
        #expect(passed > .milliseconds(950) && passed < .seconds(20))
        await meeting.end()
    }

    @Test(
        "the same two sessions link again after each disconnect, with new data only [endpoint.instance] [close.goodbye]"
    )
    func again() async throws {
        let meeting = try Meeting()
        for round in 0..<20 {
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            // The two leave first in turn; the other receives a goodbye.
            let (first, second) =
                round.isMultiple(of: 2) ? (meeting.ann, meeting.bob) : (meeting.bob, meeting.ann)
            await first.disconnect()
            #expect(try await within { await second.events.firstEnd() }?.code == .goodbye)
            await second.disconnect()
            #expect(try await within { await first.events.firstEnd() }?.code == .left)
        }
    }

    @Test("data of an earlier instance leads to no link [endpoint.instance] [hello.receiver]")
    func stale() async throws {
        let meeting = try Meeting(
            ann: .loopback(timeLimit: .seconds(1)), bob: .loopback(timeLimit: .seconds(1)))
        let old = try await meeting.bob.connectionData()
        await meeting.bob.disconnect()
        let fresh = try await meeting.bob.connectionData()
        #expect(old != fresh && old.instance != fresh.instance)
        let annsData = try await meeting.ann.connectionData()
        async let first = meeting.ann.trying(old)
        async let second = meeting.bob.trying(annsData)
        let fared = await (first, second)
        #expect(fared.0.error?.reason?.code == .timedOut)
        #expect(fared.1.error?.reason?.code == .timedOut)
        await meeting.end()
    }

    @Test("the session's owner is notified where the events of the session it left end")
    func marksLeaving() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let driver = meeting.ann.driver
        await driver.disconnect(within: .seconds(1), isMarked: true)
        await driver.mark(.attemptFailed(meeting.bob.peer))
        let told = try await within { await driver.toldUntilFailure() }
        #expect(told == ["connecting", "connected", "not connected", "left", "failed"])
        await meeting.end()
    }

    @Test("requests while the session leaves apply to the time after")
    func whileLeaving() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        try await within { try await meeting.expectTalk() }
        async let left: Void = meeting.ann.disconnect()
        async let leftToo: Void = meeting.ann.disconnect()
        let data = try await within { try await meeting.ann.connectionData() }
        _ = await (left, leftToo)
        #expect(try await meeting.ann.connectionData() == data)
        #expect(try await within { await meeting.bob.events.firstEnd() }?.code == .goodbye)
        try await meeting.link()
        try await within { try await meeting.expectTalk() }
        // Both leave at the same time.
        await meeting.end()
    }

    @Test("a released session closes its connections and stops listening; the peer sees a loss")
    func letGo() async throws {
        try await withTaps { annsTap, bobsTap in
            let bob = try Session(
                peer: PeerID(displayName: "bob"), configuration: .loopback().tapped(by: bobsTap))
            try await linkAndLetGo(annsTap, bob)
            let end = try await within { await bob.events.firstEnd() }
            #expect(end?.code == .lost)
            try await within { await annsTap.until { $0.allSatisfy(\.isOver) } }
            // Nothing listens there any more: a connection of the tap's own is refused.
            let before = await annsTap.flows.count
            try await annsTap.dial(sending: [0x16])
            try await within { await annsTap.until { $0.count > before && $0[before].isOver } }
            await bob.disconnect()
        }
    }

    private func linkAndLetGo(_ tap: Tap, _ bob: Session) async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback().tapped(by: tap))
        let (annsData, bobsData) = (try await ann.connectionData(), try await bob.connectionData())
        async let first: Void = ann.connect(with: bobsData)
        async let second: Void = bob.connect(with: annsData)
        _ = try await (first, second)
        try await ann.send([1, 2, 3], to: bob.peer)
        #expect(try await within { await bob.events.firstMessage() } == [1, 2, 3])
        try await bob.send([4], to: ann.peer)
        #expect(try await within { await ann.events.firstMessage() } == [4])
    }
}

extension Session.Events {
    func firstState() async -> PeerState? {
        for await event in self {
            if case .peer(_, let state) = event { return state }
        }
        return nil
    }
}
