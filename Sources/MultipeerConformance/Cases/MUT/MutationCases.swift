import MultipeerSecurity

/// Mutations of valid transcripts, section by section.
enum MutationCases {
    private static let rounds = 2_000

    private static func mutation(
        _ id: String, _ chapter: String, level: Level = .core, _ what: String, bugs: [Fault],
        rules: [String] = [],
        _ body: @escaping @Sendable (Trial) throws -> Void
    ) -> Case {
        Case(
            id, chapter, level: level, "\(what), changed in 2,000 ways",
            stimulus: "bit flips, edits of lengths, duplications, swaps and drops; the seed decides",
            expectation:
                "no crash, no hang; the connection is closed or goes on; an exchange works afterwards",
            rules: rules,
            bugs: bugs, seconds: 240
        ) { trial in
            trial.allowance = 4 << 20
            try body(trial)
        }
    }

    static let all: [Case] = [
        mutation("MUT-DATA", "4.2", "connection data", bugs: ["crashes-on-bad-data"]) { trial in
            try trial.mutateData(rounds)
        },
        mutation("MUT-ENC", "5.3", "a ClientHello", bugs: ["crashes-on-bad-tls"]) { trial in
            try trial.mutateClientHello(rounds)
        },
        mutation("MUT-LINK", "6.2", "HELLO, CONFIRM and SELECT", bugs: ["crashes-on-bad-list"]) { trial in
            try trial.mutateHandshake(rounds)
        },
        mutation("MUT-FRM", "7.5", "frames of every kind", bugs: ["crashes-on-unknown-kind"]) { trial in
            try trial.mutations { _ in
                [
                    .pong(.pattern(8)), Frame(Kind(0xAA), channel: 9, .pattern(30)), .message(.pattern(10)),
                    .ping(.pattern(8)),
                ]
            }.run(rounds)
        },
        mutation("MUT-MSG", "8.5", "a message in parts", bugs: ["crashes-on-unknown-kind"]) { trial in
            try trial.mutations { _ in Frame.message(.pattern(4_000), piece: 1_500) }.run(rounds)
        },
        mutation("MUT-CHN", "9.8", level: .channels, "a stream", bugs: ["crashes-on-bad-list"]) { trial in
            try trial.mutateChannels(rounds, kind: 1)
        },
        mutation("MUT-RES", "9.8", level: .channels, "a resource", bugs: ["crashes-on-bad-list"]) { trial in
            try trial.mutateChannels(rounds, kind: 2)
        },
        mutation("MUT-DGR", "10.2", level: .datagram, "DGRAM", bugs: ["crashes-on-unknown-kind"]) { trial in
            try trial.mutations { _ in
                [
                    Frame(.datagrams) {
                        $0.u64(0); $0.u16(0); $0.u8(0)
                    }, .message(.pattern(3)),
                ]
            }.run(rounds)
        },
        mutation("MUT-MSH", "11.9", level: .mesh, "entries of a mesh", bugs: ["crashes-on-bad-list"]) {
            trial in
            try trial.mutateMembers(rounds)
        },
        mutation("MUT-INV", "12.9", level: .invite, "an invitation", bugs: ["crashes-on-bad-list"]) { trial in
            try trial.mutateInvitations(rounds)
        },
        mutation("MUT-SAS", "13.5", level: .code, "the frames of a code", bugs: ["crashes-on-unknown-kind"]) {
            trial in
            try trial.mutations(.init(preference: .required)) { link in
                link.terms.isControlling
                    ? [Frame(.codeCommit, .pattern(32)), Frame(.codeReveal, .pattern(32))]
                    : [Frame(.codeRequest), Frame(.codeNonce, .pattern(32))]
            }.run(rounds)
        },
    ]
}

extension Trial {
    fileprivate func mutateData(_ count: Int) throws {
        let session = try session()
        let tester = try tester(beside: session)
        let data = tester.data(for: session.uid)
        var mutator = Mutator(random: random)
        for round in 1...count {
            var blob = mutator.mutate([data.bytes]).flatMap(\.self)
            // Every other time the checksum fits again, so that what is behind it is tried, too.
            if round % 2 == 0, blob.count >= 24 { blob = ConnectionData.sealed(Array(blob.dropLast(8))) }
            var readable: ConnectionData?
            do throws(Malformed) { readable = try ConnectionData(blob) } catch {}
            // Nothing is dialled but the tester.
            if let readable, readable.candidates != data.candidates { continue }
            let answer = try session.ask("connect", ["data": .string(blob.hex)])
            guard answer["error"] == nil else { continue }
            guard let readable else { throw Failure("round \(round): malformed data is taken: \(blob.hex)") }
            try session.call("cancel", ["peer": .string(readable.endpoint.uid.hex)])
            session.subject.events.removeAll()
            tester.dismissCallers()
        }
    }

    fileprivate func mutateClientHello(_ count: Int) throws {
        let pair = try pair(.init(preference: .required))
        let end = try TLSEnd(pair.tester.setup(isServer: false))
        end.shakeHands()
        let hello = end.drainOutput()
        var mutator = Mutator(random: random)
        for round in 1...count {
            let link = try pair.tester.dial(pair.terms, plain: true, sendsPreface: false)
            link.send(raw: mutator.mutate([hello]).flatMap(\.self), "ClientHello \(round)")
            pump.wait(.milliseconds(20)) { link.ending != nil || link.receivedCount > 0 }
            link.reset()
            pair.tester.dismissCallers()
            if round % 100 == 0 {
                try require(subject().isRunning, "round \(round): the subject's process has ended")
                try pair.session.connect(pair.terms.mine)
            }
        }
        try session(pair.session, cancels: pair.tester)
    }

    private func session(_ session: SubjectSession, cancels tester: Tester) throws {
        _ = try session.ask("cancel", ["peer": .string(tester.endpoint.uid.hex)])
        session.subject.events.removeAll()
        tester.dismissCallers()
    }

    fileprivate func mutateHandshake(_ count: Int) throws {
        let pair = try pair()
        var mutator = Mutator(random: random)
        for round in 1...count {
            if round % 20 == 0 {
                try session(pair.session, cancels: pair.tester)
                try pair.session.connect(pair.terms.mine)
            }
            let link = try pair.tester.dial(pair.terms)
            pump.wait(.seconds(3)) { link.isReady || link.ending != nil }
            guard link.isReady else {
                // A change that harmed nothing has made a link, or ended the attempt: nobody is awaited any more.
                try session(pair.session, cancels: pair.tester)
                try pair.session.connect(pair.terms.mine)
                continue
            }
            if round % 2 == 0 {
                link.send(
                    raw: mutator.mutate([link.properHello().frame.bytes]).flatMap(\.self), "HELLO \(round)")
            } else {
                link.sendHello()
                pump.wait(.milliseconds(500)) { link.ending != nil || link.receivedHelloBytes.count > 0 }
                let frames = [
                    Frame(
                        .confirm, link.receivedHelloBytes.isEmpty ? .pattern(32) : link.key.mac(.initiator)),
                    .select,
                ]
                link.send(
                    raw: mutator.mutate(frames.map(\.bytes)).flatMap(\.self), "CONFIRM and SELECT \(round)")
            }
            pump.wait(.milliseconds(30)) { link.ending != nil || link.waiting.contains { $0.kind == .close } }
            link.close()
            pair.tester.dismissCallers()
            try require(subject().isRunning, "round \(round): the subject's process has ended")
        }
        pump.wait(.milliseconds(500))
        try session(pair.session, cancels: pair.tester)
    }

    fileprivate func mutateChannels(_ count: Int, kind: UInt8) throws {
        var number: UInt32 = 0
        var last: ObjectIdentifier?
        try mutations { link in
            if last != ObjectIdentifier(link) { number = 0 }
            last = ObjectIdentifier(link)
            number += 1
            let content = [UInt8].pattern(100)
            let opening = [
                Entry(1, [kind]), Entry(2, Array("name".utf8)), Entry(3) { $0.u64(100) },
                Entry(4, .pattern(8)),
            ]
            return [
                Frame(.open, channel: number, opening.bytes), Frame(.data, channel: number, content),
                Frame(.fin, channel: number, Entry(1, SHA256.hash(content)).bytes),
            ]
        }.run(count)
    }

    fileprivate func mutateMembers(_ count: Int) throws {
        let session = try session()
        let (endpoint, blob) = try meshData(session)
        let member = try member(session, "member")
        let terms = try member.terms(blob)
        let pair = Pair(session, member.tester, terms)
        try Mutations(
            trial: self, pair: pair,
            join: {
                try session.connect(member.data.bytes)
                return try member.join(session, blob)
            },
            transcript: { [unowned self] _ in
                let stranger = strangers(1, of: session, like: member, listing: [member.endpoint, endpoint])[
                    0]
                return [member.entry([endpoint]).frame, stranger.frame]
            }
        ).run(count)
    }

    fileprivate func mutateInvitations(_ count: Int) throws {
        let (session, port) = try advertiser()
        let tester = try tester(beside: session, preference: .required)
        var mutator = Mutator(random: random)
        for round in 1...count {
            let inviting = try Inviting(tester, port: port)
            try inviting.expectReady()
            let invite = Invitation.invite(
                id: inviting.id, from: tester.endpoint.uid, name: Array("mut".utf8), to: session.uid,
                timeout: 5,
                context: .pattern(20))
            let frames = [
                Frame(.invite, invite.bytes),
                Frame(
                    .complete,
                    Invitation.complete(id: inviting.id, data: tester.data(for: session.uid).bytes).bytes),
            ].prefix(round % 2 + 1)
            inviting.link.send(
                raw: mutator.mutate(frames.map(\.bytes)).flatMap(\.self), "invitation \(round)")
            pump.wait(.milliseconds(20)) { inviting.link.ending != nil || !inviting.link.waiting.isEmpty }
            inviting.link.close()
            session.subject.events.removeAll()
            try require(subject().isRunning, "round \(round): the subject's process has ended")
        }
        pump.wait(.seconds(1))
    }
}
