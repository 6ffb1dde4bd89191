/// What takes minutes and is tried only when it is asked for by name or level.
enum FloodCases {
    static let all: [Case] = [
        Case(
            "FLOOD-01", "2.5", level: .flood, "200,000 mutated frames from a verified member",
            stimulus:
                "T1, linked with TLS to a session with a mesh, sends valid transcripts of every kind, each with one change; T2 exchanges messages meanwhile",
            expectation:
                "no crash; the link of T1 is closed or goes on; T2's messages arrive within a second each; '--repeat 50' makes 10,000,000",
            rules: [], bugs: ["crashes-on-unknown-kind"], seconds: 3_600
        ) { trial in
            trial.allowance = 8 << 20
            let session = try trial.session(.init(preference: .required))
            let (endpoint, blob) = try trial.meshData(session)
            let honest = try trial.tester(beside: session, "honest", preference: .required)
            let other = try trial.introduce(session, honest).link()
            let member = try trial.member(session, "member")
            let pair = Pair(session, member.tester, try member.terms(blob))
            var number: UInt32 = 0
            var kind = 0
            let transcript: (Link) -> [Frame] = { link in
                number += 1
                kind += 1
                return trial.flood(kind, number, member, endpoint)
            }
            let mutations = Mutations(
                trial: trial, pair: pair,
                join: {
                    number = 0
                    try session.connect(member.data.bytes)
                    return try member.join(session, blob)
                }, transcript: transcript)
            var frames = 0
            while frames < 200_000 {
                try mutations.run(1_000) {
                    let text = trial.random.bytes(40)
                    other.send(.message(text))
                    try session.send(text, to: honest.endpoint.uid)
                    let came = try other.expectMessage(within: .seconds(1))
                    try trial.require(came == text, "another message came to the honest peer")
                }
                frames += 4_000
            }
            try other.expectAlive()
        },
        Case(
            "FLOOD-02", "15.2", level: .flood, "an honest peer joins in a stranger's flood",
            stimulus:
                "for 60 s: 200 TLS handshakes a second from 50 addresses with keys that nobody awaits, random bytes, and handshakes of one byte a second; every 10 s an honest peer",
            expectation: "the honest peer is linked within 5 s each time", rules: ["limit.unauthenticated"],
            bugs: ["stops-accepting"], seconds: 180
        ) { trial in
            trial.allowance = 16 << 20
            try trial.floodOfStrangers(.seconds(60))
        },
    ]
}

extension Trial {
    /// Four frames of one kind of exchange.
    fileprivate func flood(_ kind: Int, _ number: UInt32, _ member: Member, _ endpoint: Endpoint) -> [Frame] {
        switch kind % 4 {
        case 0:
            let opening = [Entry(1, [UInt8(number % 2 + 1)]), Entry(2, Array("flood".utf8))]
            return [
                Frame(.open, channel: number, opening.bytes), Frame(.data, channel: number, .pattern(50)),
                Frame(.fin, channel: number), Frame(Kind(0x9A), .pattern(9)),
            ]
        case 1: return Frame.message(.pattern(3_500), piece: 1_100)
        case 2:
            return [
                member.entry([endpoint]).frame, Frame(.codeRequest), .message([]),
                Frame(.datagrams) {
                    $0.u64(0); $0.u16(0); $0.u8(0)
                },
            ]
        default:
            return [.pong(.pattern(8)), .message(.pattern(100)), .ping(.pattern(8)), .message(.pattern(5))]
        }
    }

    fileprivate func floodOfStrangers(_ duration: Duration) throws {
        let session = try session(.init(preference: .required))
        let anybody = try tester(beside: session, "awaited", preference: .required)
        let pair = try introduce(session, anybody)
        let stranger = try TLSIdentity()
        let start = ContinuousClock.now
        var (handshakes, honest, nextHonest) = (0, 0, Duration.seconds(2))
        var open: [(link: Link, until: ContinuousClock.Instant)] = []
        while ContinuousClock.now - start < duration {
            let elapsed = ContinuousClock.now - start
            while Double(handshakes) < elapsed / .seconds(1) * 200 {
                handshakes += 1
                let source: [UInt8] = [127, 0, 2, UInt8(handshakes % 50 + 1)]
                let setup = TLSEnd.Setup(isServer: false, identity: stranger)
                let link = try anybody.dial(pair.terms, tls: setup, from: source)
                open.append((link, .now + .seconds(1)))
                if handshakes % 20 == 0 {
                    let raw = try anybody.dial(pair.terms, plain: true, from: source, sendsPreface: false)
                    raw.send(raw: random.bytes(200), "random bytes")
                    let slow = try anybody.dial(pair.terms, plain: true, from: source, sendsPreface: false)
                    slow.send(raw: [0x16], "a slow handshake")
                    open.append((raw, .now + .seconds(3)))
                    open.append((slow, .now + .seconds(6)))
                }
                pump.wait(.milliseconds(1))
            }
            let now = ContinuousClock.now
            for one in open where one.until < now { one.link.reset() }
            open.removeAll { $0.until < now || $0.link.ending != nil }
            anybody.dismissCallers()
            pump.wait(.milliseconds(2))
            guard elapsed >= nextHonest else { continue }
            nextHonest += .seconds(10)
            honest += 1
            let peer = try tester(beside: session, "honest \(honest)", preference: .required)
            let begun = ContinuousClock.now
            let link = try introduce(session, peer).link(within: .seconds(5))
            note(
                "honest peer \(honest) is linked after \(ContinuousClock.now - begun), \(handshakes) handshakes so far"
            )
            link.send(.close(.goodbye))
            try link.expectEnd()
            try session.expectNotConnected(peer.endpoint.uid)
        }
        for one in open { one.link.reset() }
        try require(honest >= 5, "only \(honest) honest peers came")
        try require(
            Double(handshakes) >= 100 * (duration / .seconds(1)),
            "the tester made only \(handshakes) handshakes")
        note("\(handshakes) handshakes, \(honest) honest peers")
        _ = try session.ask("cancel", ["peer": .string(anybody.endpoint.uid.hex)])
    }
}
