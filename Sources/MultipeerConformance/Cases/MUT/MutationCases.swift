/// Mutations of valid transcripts, section by section.
enum MutationCases {
    private static let rounds = 2_000

    private static func mutation(
        _ id: String, _ chapter: String, level: Level = .core, _ what: String, bugs: [Fault],
        rules: [String] = [],
        _ body: @escaping @Sendable (MutationRun) throws -> Void
    ) -> Case {
        Case(
            id, chapter, level: level, "\(what), changed in 2,000 ways",
            stimulus: "bit flips, edits of lengths, duplications, swaps and drops; the seed decides",
            expectation:
                "no crash, no hang; the connection is closed or continues; an exchange works afterwards",
            rules: rules,
            bugs: bugs, seconds: 240
        ) { caseRun in
            caseRun.allowance = 4 << 20
            try body(MutationRun(caseRun: caseRun, rounds: rounds))
        }
    }

    static let all: [Case] = [
        mutation("MUT-DATA", "4.2", "connection data", bugs: ["crashes-on-bad-data"]) { run in
            try run.changeData()
        },
        mutation("MUT-ENC", "5.3", "a ClientHello", bugs: ["crashes-on-bad-tls"]) { run in
            try run.changeClientHello()
        },
        mutation("MUT-LINK", "6.2", "HELLO, CONFIRM and SELECT", bugs: ["crashes-on-bad-list"]) { run in
            try run.changeHandshake()
        },
        mutation("MUT-FRM", "7.5", "frames of every kind", bugs: ["crashes-on-unknown-kind"]) { run in
            try run.changeFrames { _ in
                [
                    .pong(.pattern(8)), Frame(FrameKind(0xAA), channel: 9, .pattern(30)),
                    .message(.pattern(10)),
                    .ping(.pattern(8)),
                ]
            }
        },
        mutation("MUT-MSG", "8.5", "a message in parts", bugs: ["crashes-on-unknown-kind"]) { run in
            try run.changeFrames { _ in Frame.message(.pattern(4_000), piece: 1_500) }
        },
        mutation("MUT-CHN", "9.8", level: .channels, "a stream", bugs: ["crashes-on-bad-list"]) { run in
            try run.changeChannels(kind: 1)
        },
        mutation("MUT-RES", "9.8", level: .channels, "a resource", bugs: ["crashes-on-bad-list"]) { run in
            try run.changeChannels(kind: 2)
        },
        mutation("MUT-DGR", "10.2", level: .datagram, "DGRAM", bugs: ["crashes-on-unknown-kind"]) { run in
            try run.changeFrames { _ in
                [
                    Frame(.datagrams) {
                        $0.u64(0); $0.u16(0); $0.u8(0)
                    }, .message(.pattern(3)),
                ]
            }
        },
        mutation("MUT-MSH", "11.9", level: .mesh, "entries of a mesh", bugs: ["crashes-on-bad-list"]) {
            run in
            try run.changeMembers()
        },
        mutation("MUT-INV", "12.9", level: .invite, "an invitation", bugs: ["crashes-on-bad-list"]) { run in
            try run.changeInvitations()
        },
        mutation("MUT-SAS", "13.5", level: .code, "the frames of a code", bugs: ["crashes-on-unknown-kind"]) {
            run in
            try run.changeFrames(.init(preference: .required)) { link in
                link.linkParameters.isControlling
                    ? [Frame(.codeCommit, .pattern(32)), Frame(.codeReveal, .pattern(32))]
                    : [Frame(.codeRequest), Frame(.codeNonce, .pattern(32))]
            }
        },
    ]
}
