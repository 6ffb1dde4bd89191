import MultipeerSecurity

/// Chapter 9, resources that go on where they stopped.
enum ResumeCases {
    private static let size = 2 << 20
    private static let bytes = [UInt8].pattern(size)

    static let all: [Case] = [
        Case(
            "RES-15", "9.6", level: .channels, "a receiver says what it has of a resource",
            stimulus:
                "RESUMABLE, 2 MiB, of which half arrives before the link ends; the same resource on a new link; again, of other bytes; and of a peer that has the uid and not the key",
            expectation:
                "RESUME with 0 bytes; after the link with some (recommended) and their SHA-256, but 0 for another key; DONE(OK), and the file that was sent",
            rules: ["resource.resumable", "resource.begin", "resource.partial"],
            bugs: [
                .seen("resumable-ignored", by: "nothing on channel"),
                .seen("resume-digest-of-nothing", by: "SHA-256"),
                .seen("forgets-parts", by: "nothing is kept"),
                .seen("parts-of-a-uid", by: "RESUME with offset"),
            ], seconds: 60
        ) { caseRun in
            caseRun.allowance = 8 << 20
            var settings = SubjectSession.Settings()
            settings.resumes = true
            // A part belongs to a key.
            settings.preference = .required
            let (folder, pair, first) = try caseRun.receiving(settings)
            let half = Array(bytes.prefix(size / 2))
            let other = bytes.map { $0 ^ 1 }
            var (resource, offset) = try first.offerResumable(1, of: pair, expecting: [0], bytes)
            try first.sendHalf(1, half, resource, of: pair, in: caseRun)
            // A peer that has the uid and another key gets nothing of it.
            let key = pair.tester.identity
            pair.tester.identity = try TLSIdentity()
            pair.tester.restart()
            let foreign = try pair.linkAgain(after: first, resource, in: caseRun)
            (resource, _) = try foreign.offerResumable(1, of: pair, expecting: [0], bytes)
            foreign.send(.reset(1, .cancelled))
            pair.tester.identity = key
            pair.tester.restart()
            var link = try pair.linkAgain(after: foreign, resource, in: caseRun)
            let possible = 0...UInt64(half.count)
            (resource, offset) = try link.offerResumable(1, of: pair, expecting: possible, bytes)
            if offset == 0 { caseRun.weak("nothing is kept of what arrived") }
            link.send(.begin(1, offset))
            try link.channel(1).send(Array(bytes[Int(offset)...]))
            link.send(.fin(1, digest: SHA256.hash(bytes)))
            try link.channel(1).expect(.done, .ok)
            try pair.session.expectFile(resource, bytes)

            (resource, _) = try link.offerResumable(2, of: pair, expecting: [0], bytes)
            try link.sendHalf(2, half, resource, of: pair, in: caseRun)
            let last = link
            link = try pair.linkAgain(after: last, resource, in: caseRun)
            (resource, _) = try link.offerResumable(1, of: pair, expecting: possible, bytes)
            link.send(.begin(1, 0))
            try link.channel(1).send(other)
            link.send(.fin(1, digest: SHA256.hash(other)))
            try link.channel(1).expect(.done, .ok)
            try pair.session.expectFile(resource, other)

            // BEGIN(0) has replaced the part that S offered.
            (resource, _) = try link.offerResumable(2, of: pair, expecting: [0], bytes)
            try link.sendHalf(2, half, resource, of: pair, in: caseRun)
            link.send(.reset(2, .cancelled))
            try pair.session.expectResourceError(
                .object(["resource": .number(Double(resource))]), [.cancelled])
            caseRun.loop.wait(.seconds(2)) { folder.files.count == 2 }
            try caseRun.require(
                folder.files.count == 2, "a file remains of what was cancelled: \(folder.files)")
            try link.expectAlive()
        },
        Case(
            "RES-16", "9.6", level: .channels, "a resumable resource begins with BEGIN, where it was offered",
            stimulus:
                "RESUMABLE without SIZE, or of a stream; DATA or FIN instead of BEGIN; BEGIN with another offset, twice, without RESUMABLE",
            expectation: "PROTOCOL",
            rules: ["resource.resumable", "resource.begin"],
            bugs: [
                .seen("data-before-begin", by: "CLOSE(PROTOCOL)"),
                .seen("begins-anywhere", by: "CLOSE(PROTOCOL)"),
            ]
        ) { caseRun in
            let wrong: [[Frame]] = [
                [.open(1, Frame.ChannelPurpose.resource, isResumable: true)],
                [.open(1, size: 9, isResumable: true)],
                [.open(1, Frame.ChannelPurpose.resource), .begin(1, 0)],
                [.open(1), .begin(1, 0)],
                [.begin(1, 0)],
            ]
            for frames in wrong {
                let (pair, link) = try caseRun.linked()
                link.send(frames)
                try link.expectBroken(.protocol, by: pair)
            }
            let late: [[Frame]] = [
                [.data(1, [1])], [.fin(1)], [.begin(1, 1)], [.begin(1, 0), .begin(1, 0)],
            ]
            for frames in late {
                let (_, pair, link) = try caseRun.receiving()
                _ = try link.offerResumable(1, of: pair, expecting: [0], bytes)
                link.send(frames)
                try link.expectBroken(.protocol, by: pair)
            }
        },
        Case(
            "RES-17", "9.6", level: .channels, "an opener compares before it goes on",
            stimulus:
                "S sends 2 MiB, resumable; T has one half, all of it, or other bytes",
            expectation:
                "nothing before RESUME; BEGIN with the offset, or with 0; the rest; DIGEST of the whole",
            rules: ["resource.resumable", "resource.begin", "resource.digest"],
            bugs: [
                .seen("sends-before-resume", by: "DATA received"), .seen("begins-unchecked", by: "BEGIN at"),
                .seen("digest-of-rest", by: "DIGEST"),
            ], seconds: 60
        ) { caseRun in
            caseRun.allowance = 8 << 20
            let (pair, link) = try caseRun.linked()
            let other = SHA256.hash([1])
            for (offset, digest, expected) in [
                (size / 2, SHA256.hash(Array(bytes.prefix(size / 2))), size / 2), (size / 2, other, 0),
                (size, SHA256.hash(bytes), size), (0, other, 0),
            ] {
                let sending = try pair.send(bytes, name: "resumable", isResumable: true)
                let channel = try link.expectResumable()
                try link.expectQuiet(for: .milliseconds(200))
                link.send(.resume(channel, UInt64(offset), digest))
                let begin = try link.channel(channel).expect(.begin)
                try caseRun.require(
                    begin.offset == UInt64(expected), "BEGIN at \(begin.offset ?? 0), not \(expected)")
                let (rest, said) = try link.channel(channel).expectBytes()
                try caseRun.require(rest == Array(bytes[expected...]), "the rest is not what follows")
                try caseRun.require(
                    said == nil || said == SHA256.hash(bytes), "DIGEST is not that of the whole")
                link.send(.done(channel))
                let end = try pair.session.expectEnd("sent", "resource", sending.number())
                try caseRun.require(end["error"] == nil, "the completion says \(end["error"]?.text ?? "")")
            }
        },
        Case(
            "RES-18", "9.6", level: .channels, "an opener takes one RESUME, within the size",
            stimulus: "RESUME beyond SIZE, twice, of a stream; STOP instead of it",
            expectation: "PROTOCOL; RESET, and the completion has an error",
            rules: ["resource.resumable", "channel.stop"],
            bugs: [.seen("resume-unchecked", by: "CLOSE(PROTOCOL)")]
        ) { caseRun in
            let nothing = SHA256.hash([])
            for (offset, count) in [(UInt64(size) + 1, 1), (0, 2)] {
                let (pair, link) = try caseRun.linked()
                let sending = try pair.send(bytes, name: "resumable", isResumable: true)
                let channel = try link.expectResumable()
                for _ in 0..<count { link.send(.resume(channel, offset, nothing)) }
                try link.expectBroken(.protocol, by: pair)
                try sending.expectError([])
            }
            let (pair, link) = try caseRun.linked()
            let sending = try pair.send(bytes, name: "resumable", isResumable: true)
            let channel = try link.expectResumable()
            link.send(.stop(channel, .declined))
            try link.channel(channel).expect(.reset, .declined)
            try sending.expectError([.declined])
            // On a closed channel it is ignored.
            link.send(.resume(channel, 0, nothing))
            try link.expectAlive()
            _ = try pair.session.call(
                "stream", ["to": .string(pair.tester.endpoint.uid.hex), "name": .string("stream")])
            let stream = try link.expectOpen().number
            link.send(.resume(stream, 0, nothing))
            try link.expectBroken(.protocol, by: pair)
        },
    ]
}

extension TesterLink {
    /// Offers a resumable resource, and waits for RESUME: its offset must be one of these, and its digest that of the first bytes.
    fileprivate func offerResumable(
        _ number: UInt32, of pair: Pair, expecting offsets: some Sequence<UInt64>, _ bytes: [UInt8]
    ) throws -> (resource: Int, offset: UInt64) {
        send(
            .open(
                number, Frame.ChannelPurpose.resource, name: Array("resumable".utf8),
                size: UInt64(bytes.count),
                isResumable: true))
        let resource = try pair.session.expectResource(from: pair.tester.endpoint.uid)
        let frame = try channel(number).expect(.resume)
        guard let offset = frame.offset, offsets.contains(offset) else {
            throw CaseFailure("\(name): RESUME with offset \(frame.offset ?? 0)")
        }
        guard Array(frame.payload.dropFirst(8)) == SHA256.hash(Array(bytes.prefix(Int(offset)))) else {
            throw CaseFailure("\(name): RESUME with another SHA-256 than that of the first \(offset) bytes")
        }
        return (resource["resource"]?.int ?? -1, offset)
    }

    /// Waits for a resumable resource of the subject.
    fileprivate func expectResumable() throws -> UInt32 {
        let (number, opening) = try expectOpen()
        guard opening.isResumable else { throw Skip("S does not send RESUMABLE, which is optional") }
        return number
    }
}

extension TesterLink {
    /// Begins a resource, and sends some bytes of it, until some of them have arrived.
    fileprivate func sendHalf(
        _ number: UInt32, _ bytes: [UInt8], _ resource: Int, of pair: Pair, in caseRun: CaseRun
    ) throws {
        send(.begin(number, 0))
        try channel(number).send(bytes)
        caseRun.loop.wait(.seconds(5)) { pair.session.progress(of: resource).contains { $0 > 0 } }
    }
}

extension Pair {
    /// Ends a link, without a CLOSE, and makes another of the same peers, once the subject has closed what had arrived of a
    /// resource: until then it has nothing to offer of it.
    fileprivate func linkAgain(
        after link: TesterLink, _ resource: Int, in caseRun: CaseRun
    ) throws -> TesterLink {
        link.connection.reset()
        try session.expect("notConnected", of: tester.endpoint.uid)
        caseRun.loop.wait(.seconds(5)) { session.hasEnded(resource) }
        return try caseRun.introduce(session, tester).link()
    }
}
