/// Unauthenticated peers at many addresses that dial a session as fast as they may, and honest peers among them.
struct ConnectionFlood {
    private let caseRun: CaseRun
    private let duration: Duration
    private let session: SubjectSession
    /// The peer that the session expects; no other is admitted.
    private let awaited: Pair
    private let identity: TLSIdentity
    private let start: ContinuousClock.Instant
    private var handshakes = 0
    private var honest = 0
    private var nextHonest = Duration.seconds(2)
    /// Unauthenticated connections, and until when each is left open.
    private var open: [(link: TesterLink, until: ContinuousClock.Instant)] = []

    init(_ caseRun: CaseRun, lasting duration: Duration) throws {
        self.caseRun = caseRun
        self.duration = duration
        session = try caseRun.session(.init(preference: .required))
        let anybody = try caseRun.tester(beside: session, "awaited", preference: .required)
        awaited = try caseRun.introduce(session, anybody)
        identity = try TLSIdentity()
        start = .now
    }

    /// Runs the flood for its whole duration; every honest peer must be linked in time.
    mutating func run() throws {
        while ContinuousClock.now - start < duration {
            let elapsed = ContinuousClock.now - start
            while Double(handshakes) < elapsed / .seconds(1) * 200 {
                try dial()
                caseRun.loop.wait(.milliseconds(1))
            }
            closeOldest()
            caseRun.loop.wait(.milliseconds(2))
            if elapsed >= nextHonest { try linkHonestPeer() }
        }
        for one in open { one.link.connection.reset() }
        try caseRun.require(honest >= 5, "only \(honest) honest peers connected")
        try caseRun.require(
            Double(handshakes) >= 100 * (duration / .seconds(1)),
            "the tester completed only \(handshakes) handshakes")
        caseRun.note("\(handshakes) handshakes, \(honest) honest peers")
        _ = try session.ask("cancel", ["peer": .string(awaited.tester.endpoint.uid.hex)])
    }

    /// Makes one handshake with a key that no peer expects; at intervals random bytes, and a handshake that stops at
    /// once.
    private mutating func dial() throws {
        handshakes += 1
        let source: [UInt8] = [127, 0, 2, UInt8(handshakes % 50 + 1)]
        let setup = TLSEnd.Setup(isServer: false, identity: identity)
        let tester = awaited.tester
        open.append((try tester.dial(awaited.linkParameters, tls: setup, from: source), .now + .seconds(1)))
        guard handshakes % 20 == 0 else { return }
        let raw = try tester.dial(awaited.linkParameters, plain: true, from: source, sendsPreface: false)
        raw.send(raw: caseRun.random.bytes(200), "random bytes")
        let slow = try tester.dial(awaited.linkParameters, plain: true, from: source, sendsPreface: false)
        slow.send(raw: [0x16], "a slow handshake")
        open.append((raw, .now + .seconds(3)))
        open.append((slow, .now + .seconds(6)))
    }

    private mutating func closeOldest() {
        let now = ContinuousClock.now
        for one in open where one.until < now { one.link.connection.reset() }
        open.removeAll { $0.until < now || $0.link.ending != nil }
        awaited.tester.dismissCallers()
    }

    /// Checks that an expected peer links within five seconds; then it leaves.
    private mutating func linkHonestPeer() throws {
        nextHonest += .seconds(10)
        honest += 1
        let peer = try caseRun.tester(beside: session, "honest \(honest)", preference: .required)
        let begun = ContinuousClock.now
        let link = try caseRun.introduce(session, peer).link(within: .seconds(5))
        let delay = ContinuousClock.now - begun
        caseRun.note("honest peer \(honest) is linked after \(delay), \(handshakes) handshakes so far")
        link.send(.close(.goodbye))
        try link.expectEnd()
        try session.expectNotConnected(peer.endpoint.uid)
    }
}
