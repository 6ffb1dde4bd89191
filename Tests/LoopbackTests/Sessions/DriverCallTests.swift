import Multipeer
import MultipeerCore
import MultipeerHandshake
import MultipeerMesh
import MultipeerTransport
import TestSupport
import Testing

@Suite("14 Results of the driver's calls", .inTurns)
struct DriverCallTests {
    typealias Change = @Sendable (inout Session.Configuration) -> Void

    static let outOfRange: [(name: String, change: Change)] = [
        ("timeLimit 0", { $0.connectTimeout = .zero }),
        ("timeLimit 601 s", { $0.connectTimeout = .seconds(601) }),
        ("maxMessage 65,535", { $0.maximumMessageSize = 65_535 }),
        ("maxMessage over 1 GiB", { $0.maximumMessageSize = (1 << 30) + 1 }),
        ("silence 0", { $0.keepAliveInterval = .zero }),
        ("silence as long as death", { $0.keepAliveInterval = $0.idleTimeout }),
        ("death over an hour", { $0.idleTimeout = .seconds(3_601) }),
        ("listening to a group", { $0.listenAddresses = [SocketAddress(.v4(0xE000_0001), port: 0)] }),
        ("listening at port 80", { $0.listenAddresses = [.loopback.with(port: 80)] }),
        ("listening at 17 addresses", { $0.listenAddresses = Array(repeating: .loopback, count: 17) }),
        ("advertising no port", { $0.advertisedAddresses = [.loopback] }),
        ("advertising everywhere", { $0.advertisedAddresses = [SocketAddress(.anyV4, port: 4_000)] }),
    ]

    @Test("a configuration outside its ranges is refused", arguments: outOfRange.indices)
    func refused(_ index: Int) throws {
        let ann = try PeerID(displayName: "ann")
        let configuration = Session.Configuration.loopback().with(Self.outOfRange[index].change)
        let error = #expect(throws: MultipeerError.self) {
            _ = try Session(peer: ann, configuration: configuration)
        }
        #expect(error?.code == .invalidArgument, "\(Self.outOfRange[index].name)")
    }

    @Test("the bounds of the ranges are accepted")
    func accepted() throws {
        let ann = try PeerID(displayName: "ann")
        for change: Change in [
            { $0.connectTimeout = .seconds(1) }, { $0.connectTimeout = .seconds(600) },
            { $0.maximumMessageSize = 65_536 },
            { $0.maximumMessageSize = 1 << 30 }, { $0.keepAliveInterval = .milliseconds(10) },
            { $0.idleTimeout = .seconds(3_600) },
        ] {
            _ = try Session(peer: ann, configuration: .loopback().with(change))
        }
    }

    @Test("the 33rd simultaneous attempt is refused, and accepted once another is cancelled [limit.expected]")
    func awaited() async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback(.none))
        let others = try (0..<33).map {
            try Session(peer: PeerID(displayName: "peer \($0)"), configuration: .loopback(.none))
        }
        _ = try await ann.connectionData()
        let data = try await others.asyncMap { try await $0.connectionData() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for data in data.prefix(32) { group.addTask { _ = await ann.trying(data) } }
            var connecting = 0
            for await event in ann.events {
                if case .peer(_, .connecting) = event { connecting += 1 }
                if connecting == 32 { break }
            }
            #expect(await ann.trying(data[32]).error?.reason?.code == .busy)
            await ann.cancelConnecting(to: others[0].peer)
            group.addTask { _ = await ann.trying(data[32]) }
            for await event in ann.events { if case .peer(others[32].peer, .connecting) = event { break } }
            await ann.disconnect()
            try await group.waitForAll()
        }
        for other in others { await other.disconnect() }
    }

    @Test("data for a peer can be made by connecting to it, and stays the same")
    func issuing() async throws {
        let meeting = try Meeting()
        let (ann, bob) = (meeting.ann, meeting.bob)
        let bobsData = try await bob.connectionData(for: ann.peer)
        #expect(await ann.trying(bobsData).error?.reason?.code == .unknownPeer)
        async let first: Void = ann.driver.connect(with: bobsData, issuing: true)
        for await event in ann.events { if case .peer(bob.peer, .connecting) = event { break } }
        let annsData = try await ann.connectionData(for: bob.peer)
        async let second: Void = bob.connect(with: annsData)
        _ = try await (first, second)
        #expect(await ann.connectedPeers == [bob.peer])
        await ann.disconnect()
        await bob.disconnect()
    }

    @Test("an attempt right after a cancelled one has its own outcome")
    func again() async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback(.none))
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback(.none))
        let own = try await ann.connectionData()
        let data = try await bob.connectionData()
        let first = Task { await ann.trying(data) }
        for await event in ann.events { if case .peer(_, .connecting) = event { break } }
        let second = Task { try await ann.driver.seekAgain(data) }
        #expect(await first.value.error?.reason?.code == .cancelled)
        try await within { try await bob.connect(with: own) }
        try await within { try await second.value }
        await ann.disconnect()
        await bob.disconnect()
    }

    @Test("calls are processed in order: leaving ends the attempt that was requested just before it")
    func order() async throws {
        let ann = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback(.none))
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback(.none))
        let data = try await bob.connectionData()
        _ = try await ann.connectionData()
        // On the loop's own thread: it begins with neither before both are in its queue.
        let calls = Task(executorPreference: ann.executor) {
            let search = Task(executorPreference: ann.executor) { await ann.trying(data) }
            let leaving = Task(executorPreference: ann.executor) { await ann.disconnect() }
            return (search, leaving)
        }
        let (search, leaving) = await calls.value
        try await within { await leaving.value }
        #expect(try await within { await search.value }.error?.code == .cancelled)
        await bob.disconnect()
    }

    @Test("refused data makes no own data")
    func issuingNothing() async throws {
        let meeting = try Meeting()
        let (ann, bob) = (meeting.ann, meeting.bob)
        let forAnother = try await bob.connectionData(for: PeerID(displayName: "carl"))
        await #expect(throws: SessionFault.self) {
            try await ann.driver.connect(with: forAnother, issuing: true)
        }
        let forAnn = try await bob.connectionData(for: ann.peer)
        #expect(await ann.trying(forAnn).error?.reason?.code == .unknownPeer)
    }

    @Test("a port in use is an error, and listening can be tried again")
    func portTaken() async throws {
        let first = try Session(peer: PeerID(displayName: "ann"), configuration: .loopback())
        let port = try #require(try await first.connectionData().candidates.first).port
        let second = try Session(
            peer: PeerID(displayName: "bob"),
            configuration: .loopback().with { $0.listenAddresses = [.loopback, .loopback.with(port: port)] })
        for _ in 0..<2 {
            let error = await #expect(throws: MultipeerError.self) { _ = try await second.connectionData() }
            #expect(error?.code == .system)
        }
        await first.disconnect()
    }

    @Test("mesh data that is to be renewed does not keep a released session alive, and is not made any more")
    func shutDownMesh() async throws {
        weak var kept: SessionDriver?
        do {
            let driver = try SessionDriver(PeerID(displayName: "ann"), .loopback())
            kept = driver
            _ = try await driver.connectionData(for: nil, joinsMesh: true)
            await driver.shutDown()
            let bob = try PeerID(displayName: "bob")
            await #expect(throws: SessionFault.self) { try await driver.invitationData(for: bob.uid) }
        }
        try await within { [weak kept] in while kept != nil { await Task.yield() } }
    }

    @Test("when the owner releases the session every waiting call returns, and nothing leaks")
    func shutDown() async throws {
        let bob = try Session(peer: PeerID(displayName: "bob"), configuration: .loopback())
        let bobsData = try await bob.connectionData()
        let eventQueue: EventQueue<Session.Event>
        weak var kept: SessionDriver?
        do {
            let driver = try SessionDriver(PeerID(displayName: "ann"), .loopback(timeLimit: .seconds(60)))
            _ = try await driver.connectionData(for: nil)
            eventQueue = driver.eventQueue
            kept = driver
            let search = Task { [weak driver] in
                await #expect(throws: SessionFault.self) { try await driver?.connect(with: bobsData) }
            }
            #expect(try await within { await Session.Events(eventQueue).firstState() } == .connecting)
            await driver.shutDown()
            #expect(try await within { await search.value } == .refused(DisconnectReason(code: .cancelled)))
        }
        var iterator = Session.Events(eventQueue).makeAsyncIterator()
        guard case .peer(_, .notConnected(let reason)) = await iterator.next() else {
            Issue.record("the end of the search was not told")
            return
        }
        #expect(reason.code == .cancelled)
        #expect(await iterator.next() == nil)
        try await within { [weak kept] in while kept != nil { await Task.yield() } }
        await bob.disconnect()
    }

    @Test("a session with a blocked peer leaves in time, and reports what was not sent [msg.failed]")
    func leaving() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            for tap in [annsTap, bobsTap] { await tap.meddle { _ in .hold } }
            for _ in 0..<100 {
                try await meeting.ann.send([UInt8](repeating: 7, count: 65_536), to: meeting.bob.peer)
            }
            // As many as the credit allows have gone.
            try await within {
                while let facts = await meeting.ann.connectionInfo(for: meeting.bob.peer),
                    facts.statistics.messagesSent < 64
                {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            let start = ContinuousClock.now
            async let first: Void = meeting.ann.disconnect(within: .milliseconds(200))
            async let second: Void = meeting.ann.disconnect(within: .seconds(60))
            _ = try await within { [ann = meeting.ann, bob = meeting.bob.peer] in
                await #expect(throws: MultipeerError.self) { try await ann.waitUntilReceived(by: bob) }
            }
            _ = await (first, second)
            // The shorter time limit counts; a loaded machine adds seconds to it.
            #expect(ContinuousClock.now - start < .seconds(30))
            let end = try #require(try await within { await meeting.ann.events.firstEnd() })
            #expect(end.code == .left)
            #expect(end.undelivered == DisconnectReason.Undelivered(messages: 37, bytes: 37 * 65_536))
            await meeting.end()
        }
    }

    @Test("an event's description does not contain a message's bytes")
    func descriptions() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        try await meeting.ann.send(Array("secret".utf8), to: meeting.bob.peer)
        for await event in meeting.bob.events {
            guard case .message(let message) = event else { continue }
            #expect("\(event)" == "a message of 6 bytes from ann")
            var text = ""
            dump(event, to: &text)
            #expect(!text.contains("115"))
            #expect(message.bytes == Array("secret".utf8))
            break
        }
        await meeting.end()
    }
}

extension SessionDriver {
    /// Both in one step of the loop: there is no turn between them.
    fileprivate func seekAgain(_ data: ConnectionData) async throws(SessionFault) {
        cancel(data.peer.uid)
        try await connect(with: data)
    }
}
