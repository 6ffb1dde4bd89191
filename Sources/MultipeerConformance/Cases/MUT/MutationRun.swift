import MultipeerSecurity

/// Many mutations, one after the other, of one thing that the tester sends. Whatever the result of each, the subject
/// must go on.
struct MutationRun {
    let caseRun: CaseRun
    let rounds: Int

    /// Mutates frames on links of one pair.
    func changeFrames(
        _ settings: SubjectSession.Settings = .init(), transcript: @escaping (TesterLink) -> [Frame]
    ) throws {
        let pair = try caseRun.pair(settings, connects: false)
        try Mutations(
            caseRun: caseRun, pair: pair,
            join: {
                try pair.session.connect(pair.linkParameters.mine)
                return try pair.link()
            }, transcript: transcript
        ).run(rounds)
    }

    /// Mutates connection data with which the subject is asked to connect.
    func changeData() throws {
        let session = try caseRun.session()
        let tester = try caseRun.tester(beside: session)
        let data = tester.data(for: session.uid)
        var mutator = Mutator(random: caseRun.random)
        for round in 1...rounds {
            var blob = mutator.mutate([data.bytes]).flatMap(\.self)
            // Every other time the checksum is made correct again, so that the checks after it are tested, too.
            if round % 2 == 0, blob.count >= 24 { blob = ConnectionData.sealed(Array(blob.dropLast(8))) }
            var readable: ConnectionData?
            do throws(Malformed) { readable = try ConnectionData(blob) } catch {}
            // Only the tester is dialled.
            if let readable, readable.candidates != data.candidates { continue }
            let answer = try session.ask("connect", ["data": .string(blob.hex)])
            guard answer["error"] == nil else { continue }
            guard let readable else {
                throw CaseFailure("round \(round): malformed data is taken: \(blob.hex)")
            }
            try session.call("cancel", ["peer": .string(readable.endpoint.uid.hex)])
            session.subject.events.removeAll()
            tester.dismissCallers()
        }
    }

    /// Mutates the first flight of TLS.
    func changeClientHello() throws {
        let pair = try caseRun.pair(.init(preference: .required))
        let end = try TLSEnd(pair.tester.setup(isServer: false))
        end.shakeHands()
        let hello = end.drainOutput()
        var mutator = Mutator(random: caseRun.random)
        for round in 1...rounds {
            let link = try pair.tester.dial(pair.linkParameters, plain: true, sendsPreface: false)
            link.send(raw: mutator.mutate([hello]).flatMap(\.self), "ClientHello \(round)")
            caseRun.loop.wait(.milliseconds(20)) { link.ending != nil || link.connection.receivedCount > 0 }
            link.connection.reset()
            pair.tester.dismissCallers()
            if round % 100 == 0 {
                try requireRunning(round)
                try pair.session.connect(pair.linkParameters.mine)
            }
        }
        try cancel(pair)
    }

    /// Mutates HELLO and the frames after it, in turns.
    func changeHandshake() throws {
        let pair = try caseRun.pair()
        var mutator = Mutator(random: caseRun.random)
        for round in 1...rounds {
            if round % 20 == 0 { try seekAgain(pair) }
            let link = try pair.tester.dial(pair.linkParameters)
            caseRun.loop.wait(.seconds(3)) { link.connection.isReady || link.ending != nil }
            guard link.connection.isReady else {
                // A mutation without effect has made a link, or ended the attempt: the subject no longer expects a
                // peer.
                try seekAgain(pair)
                continue
            }
            let isHello = round % 2 == 0
            let frames = isHello ? [link.properHello().frame] : framesAfterHello(of: link)
            link.send(
                raw: mutator.mutate(frames.map(\.bytes)).flatMap(\.self),
                "\(isHello ? "HELLO" : "CONFIRM and SELECT") \(round)")
            caseRun.loop.wait(.milliseconds(30)) {
                link.ending != nil || link.waiting.contains { $0.kind == .close }
            }
            link.connection.close()
            pair.tester.dismissCallers()
            try requireRunning(round)
        }
        caseRun.loop.wait(.milliseconds(500))
        try cancel(pair)
    }

    /// Sends HELLO, and returns what follows it, with a mac that is right if the subject has answered.
    private func framesAfterHello(of link: TesterLink) -> [Frame] {
        link.sendHello()
        caseRun.loop.wait(.milliseconds(500)) { link.ending != nil || link.receivedHelloBytes.count > 0 }
        let mac = link.receivedHelloBytes.isEmpty ? .pattern(32) : link.key.mac(.initiator)
        return [Frame(.confirm, mac), .select]
    }

    /// Mutates a stream or a resource, according to `kind`.
    func changeChannels(kind: UInt8) throws {
        var number: UInt32 = 0
        var last: ObjectIdentifier?
        try changeFrames { link in
            if last != ObjectIdentifier(link) { number = 0 }
            last = ObjectIdentifier(link)
            number += 1
            let content = [UInt8].pattern(100)
            let opening = [
                TLVEntry(1, [kind]), TLVEntry(2, Array("name".utf8)), TLVEntry(3) { $0.u64(100) },
                TLVEntry(4, .pattern(8)),
            ]
            return [
                Frame(.open, channel: number, opening.bytes), Frame(.data, channel: number, content),
                Frame(.fin, channel: number, TLVEntry(1, SHA256.hash(content)).bytes),
            ]
        }
    }

    /// Mutates entries of a member and of an unknown peer.
    func changeMembers() throws {
        let session = try caseRun.session()
        let (endpoint, blob) = try session.meshData()
        let member = try caseRun.member(session, "member")
        let pair = Pair(session, member.tester, try member.linkParameters(blob))
        try Mutations(
            caseRun: caseRun, pair: pair,
            join: {
                try session.connect(member.data.bytes)
                return try member.join(session, blob)
            },
            transcript: { _ in
                let both = [member.endpoint, endpoint]
                let stranger = caseRun.strangers(1, of: session, like: member, listing: both)[0]
                return [member.entry([endpoint]).frame, stranger.frame]
            }
        ).run(rounds)
    }

    /// Mutates INVITE, every other time with COMPLETE.
    func changeInvitations() throws {
        let (session, port) = try caseRun.advertiser()
        let tester = try caseRun.tester(beside: session, preference: .required)
        var mutator = Mutator(random: caseRun.random)
        for round in 1...rounds {
            let inviting = try TesterInvitation(tester, port: port)
            try inviting.expectReady()
            let frames = invitation(inviting, session).prefix(round % 2 + 1)
            inviting.link.send(
                raw: mutator.mutate(frames.map(\.bytes)).flatMap(\.self), "invitation \(round)")
            caseRun.loop.wait(.milliseconds(20)) {
                inviting.link.ending != nil || !inviting.link.waiting.isEmpty
            }
            inviting.link.connection.close()
            session.subject.events.removeAll()
            try requireRunning(round)
        }
        caseRun.loop.wait(.seconds(1))
    }

    private func invitation(_ inviting: TesterInvitation, _ session: SubjectSession) -> [Frame] {
        let tester = inviting.tester
        let invite = InvitationFrames.invite(
            id: inviting.id, from: tester.endpoint.uid, name: Array("mut".utf8), to: session.uid,
            timeout: 5, context: .pattern(20))
        let complete = InvitationFrames.complete(id: inviting.id, data: tester.data(for: session.uid).bytes)
        return [Frame(.invite, invite.bytes), Frame(.complete, complete.bytes)]
    }

    // MARK: Between the rounds

    private func requireRunning(_ round: Int) throws {
        try caseRun.require(caseRun.subject().isRunning, "round \(round): the subject's process has ended")
    }

    /// Stops the subject from connecting to the tester.
    private func cancel(_ pair: Pair) throws {
        _ = try pair.session.ask("cancel", ["peer": .string(pair.tester.endpoint.uid.hex)])
        pair.session.subject.events.removeAll()
        pair.tester.dismissCallers()
    }

    /// Starts a new attempt.
    private func seekAgain(_ pair: Pair) throws {
        try cancel(pair)
        try pair.session.connect(pair.linkParameters.mine)
    }
}
