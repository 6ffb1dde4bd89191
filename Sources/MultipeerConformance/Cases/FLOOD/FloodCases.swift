/// Cases that take minutes and run only when they are requested by name or level.
enum FloodCases {
    static let all: [Case] = [
        Case(
            "FLOOD-01", "2.5", level: .flood, "200,000 mutated frames from a verified member",
            stimulus:
                "T1, linked with TLS to a session with a mesh, sends valid transcripts of every kind, each with one change; T2 exchanges messages meanwhile",
            expectation:
                "no crash; the link of T1 is closed or continues; T2's messages arrive within a second each; '--repeat 50' makes 10,000,000",
            rules: [], bugs: ["crashes-on-unknown-kind"], seconds: 3_600
        ) { caseRun in
            caseRun.allowance = 8 << 20
            let session = try caseRun.session(.init(preference: .required))
            let (endpoint, blob) = try session.meshData()
            let honest = try caseRun.tester(beside: session, "honest", preference: .required)
            let other = try caseRun.introduce(session, honest).link()
            let member = try caseRun.member(session, "member")
            let pair = Pair(session, member.tester, try member.linkParameters(blob))
            var number: UInt32 = 0
            var kind = 0
            let transcript: (TesterLink) -> [Frame] = { link in
                number += 1
                kind += 1
                return exchange(kind, number, member, endpoint)
            }
            let mutations = Mutations(
                caseRun: caseRun, pair: pair,
                join: {
                    number = 0
                    try session.connect(member.data.bytes)
                    return try member.join(session, blob)
                }, transcript: transcript)
            var frames = 0
            while frames < 200_000 {
                try mutations.run(1_000) {
                    let text = caseRun.random.bytes(40)
                    other.send(.message(text))
                    try session.send(text, to: honest.endpoint.uid)
                    let came = try other.expectMessage(within: .seconds(1))
                    try caseRun.require(came == text, "a different message reached the honest peer")
                }
                frames += 4_000
            }
            try other.expectAlive()
        },
        Case(
            "FLOOD-02", "15.2", level: .flood, "an honest peer joins during a flood of connections",
            stimulus:
                "for 60 s: 200 TLS handshakes a second from 50 addresses with unexpected keys, random bytes, and handshakes of one byte a second; every 10 s an honest peer",
            expectation: "the honest peer is linked within 5 s each time", rules: ["limit.unauthenticated"],
            bugs: ["stops-accepting"], seconds: 180
        ) { caseRun in
            caseRun.allowance = 16 << 20
            var flood = try ConnectionFlood(caseRun, lasting: .seconds(60))
            try flood.run()
        },
    ]

    /// Returns four frames of one kind of exchange.
    private static func exchange(
        _ kind: Int, _ number: UInt32, _ member: Member, _ endpoint: Endpoint
    ) -> [Frame] {
        switch kind % 4 {
        case 0:
            let opening = [TLVEntry(1, [UInt8(number % 2 + 1)]), TLVEntry(2, Array("flood".utf8))]
            return [
                Frame(.open, channel: number, opening.bytes), Frame(.data, channel: number, .pattern(50)),
                Frame(.fin, channel: number), Frame(FrameKind(0x9A), .pattern(9)),
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
}
