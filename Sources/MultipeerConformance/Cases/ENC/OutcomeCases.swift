import Foundation

/// Chapter 5: the outcome of two preferences, and that nothing else is used.
enum OutcomeCases {
    static let all: [Case] = cells + modes

    /// Nine cells of the table, as ENC-01 to ENC-09.
    private static let cells: [Case] = Preference.allCases.flatMap { mine in
        Preference.allCases.map { theirs in cell(mine, theirs) }
    }

    private static func cell(_ subject: Preference, _ tester: Preference) -> Case {
        let order: [Preference] = [.none, .optional, .required]
        let number = 1 + 3 * (order.firstIndex(of: subject) ?? 0) + (order.firstIndex(of: tester) ?? 0)
        let outcome = subject.outcome(with: tester)
        let words = [
            "plain": "a plain link", "tls": "a link with TLS 1.3", "refused": "POLICY, and no dial",
        ]
        return Case(
            "ENC-0\(number)", "5.1", "\(subject.word) and \(tester.word) give \(outcome)",
            stimulus: "S prefers \(subject.word), T \(tester.word)",
            expectation: "\(words["\(outcome)"] ?? ""), seen in the first byte that S sends",
            rules: ["enc.outcome", "enc.no-negotiation"], bugs: bugs(outcome), orders: UIDOrder.allCases
        ) { caseRun in
            guard outcome != .refused else {
                let session = try caseRun.session(.init(preference: subject))
                let peer = try caseRun.tester(beside: session, preference: tester)
                return try UnpairedSession(session, peer).refuse(
                    .policy, "refused", peer.data(for: session.uid).bytes)
            }
            let pair = try caseRun.pair(.init(preference: subject), tester: tester)
            let link = try pair.link()
            let first = link.connection.firstBytes.first
            if outcome == .plain {
                try caseRun.require(first == UInt8(ascii: "M"), "the first byte is not that of the preface")
            } else {
                try caseRun.require(first == 22, "the first byte is not that of TLS")
                try caseRun.require(
                    link.connection.tls?.version == TLSEnd.Version.tls13.rawValue, "it is not TLS 1.3")
            }
            link.send(.message([1, 2, 3]))
            try pair.session.expectMessage([1, 2, 3], from: pair.tester.endpoint.uid)
        }
    }

    private static func bugs(_ outcome: Preference.Outcome) -> [Fault] {
        switch outcome {
        case .plain: ["enc-prefers-tls"]
        case .tls: ["enc-prefers-plain"]
        case .refused: ["none-links-required"]
        }
    }

    private static let modes: [Case] = [
        Case(
            "ENC-10", "5.1", "with an identity, optional counts as required",
            stimulus:
                "S with an identity and optional, T none; S none, T with the flag IDENTITY and optional",
            expectation: "POLICY both times", rules: ["enc.identity"],
            bugs: [.seen("identity-stays-optional", by: "the data is taken")]
        ) { caseRun in
            let file = try caseRun.file(try TLSIdentity().pem)
            let session = try caseRun.session(.init(preference: .optional, identity: file))
            let data = try ConnectionData(ofSubject: session.data(for: nil))
            try caseRun.require(
                data.flags & ConnectionData.Flag.identity != 0, "the flag IDENTITY is missing")
            let plain = try caseRun.tester(beside: session)
            try UnpairedSession(session, plain).refuse(
                .policy, "identity of S", plain.data(for: session.uid).bytes)
            let other = try caseRun.session(.init(preference: .none))
            let secure = try caseRun.tester(beside: other, preference: .optional)
            secure.flags = ConnectionData.Flag.identity
            try UnpairedSession(other, secure).refuse(
                .policy, "identity of T", secure.data(for: other.uid).bytes)
        },
        Case(
            "ENC-11", "5.2", "a session that counts as required sends nothing in plain text",
            stimulus: "MPCPLAIN and a HELLO to S", expectation: "closed without a frame",
            rules: ["enc.required", "enc.no-negotiation"],
            bugs: [.seen("accepts-plain-when-required", by: "still open")], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let link = try pair.tester.dial(pair.linkParameters, plain: true)
            link.sendHello()
            try link.expectRefusal()
            try caseRun.require(
                link.connection.receivedCount == 0 || link.connection.firstBytes.first == 21,
                "S answers \(link.connection.firstBytes.hex)")
        },
        Case(
            "ENC-12", "5.2", "a session without encryption closes on a ClientHello",
            stimulus: "a ClientHello to S",
            expectation: "closed, nothing but the preface is sent",
            rules: ["plain.preface", "enc.no-negotiation"],
            bugs: [
                .seen("plain-ignores-first-byte", by: "still open"),
                .seen("preface-unchecked", by: "still open"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .none))
            let client = try TLSEnd(.init(identity: try TLSIdentity()))
            client.shakeHands()
            let link = try pair.tester.dial(pair.linkParameters, plain: true, sendsPreface: false)
            link.send(raw: client.drainOutput(), "ClientHello")
            try link.expectRefusal(within: .seconds(2))
            let other = try pair.tester.dial(pair.linkParameters, plain: true, sendsPreface: false)
            other.send(raw: Array("MPCPLAIM".utf8), "another preface")
            try other.expectRefusal(within: .seconds(2))
            let third = try pair.tester.dial(pair.linkParameters, plain: true, sendsPreface: false)
            third.send(raw: [22], "one byte that is not the preface's")
            try third.expectRefusal(within: .seconds(2))
            for one in [link, other, third] {
                try caseRun.require(
                    TesterConnection.preface.starts(with: one.connection.firstBytes),
                    "S says \(one.connection.firstBytes.hex)")
            }
        },
        Case(
            "ENC-21", "5.3", "the end of the stream without a word is a failure",
            stimulus: "half a message, then FIN without close_notify",
            expectation: "notConnected as lost, no message",
            rules: ["tls.truncation"], bugs: [.seen("truncation-delivers", by: "the reason is")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let (pair, link) = try caseRun.linked(.init(preference: .required))
            link.send(.part(.pattern(2_000)))
            link.connection.flush(within: .seconds(2))
            link.connection.truncate()
            let event = try pair.session.expectNotConnected(pair.tester.endpoint.uid)
            try caseRun.require(
                event["reason"]?.text == "lost", "the reason is '\(event["reason"]?.text ?? "")', not 'lost'")
            try pair.session.expectNoMessage(from: pair.tester.endpoint.uid, for: .milliseconds(300))
        },
        Case(
            "ENC-30", "6.2", "HELLO on a connection of the wrong kind is refused",
            stimulus:
                "S, optional, expects one peer whose outcome is plain, and T, whose outcome is TLS; T sends HELLO in plain",
            expectation: "POLICY", rules: ["hello.mode"],
            bugs: [.seen("hello-mode-unchecked", by: "CLOSE(POLICY)")], orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .optional))
            _ = try caseRun.introduce(session, caseRun.tester(beside: session, "plain"))
            let secure = try caseRun.tester(beside: session, "secure", preference: .required)
            let pair = try caseRun.introduce(session, secure)
            let link = try secure.dial(pair.linkParameters, plain: true)
            try link.expectReady()
            link.sendHello()
            try link.expectClose(.policy)
        },
        Case(
            "ENC-31", "3.3", "each session has a key of its own",
            stimulus: "T asks three sessions for data", expectation: "three fingerprints",
            rules: ["key.ephemeral"], bugs: [.seen("one-key-for-all", by: "the same certificate")]
        ) { caseRun in
            let prints = try (0..<3).map { _ in
                try ConnectionData(
                    ofSubject: caseRun.session(.init(preference: .required)).data(for: nil)
                ).fingerprint
            }
            try caseRun.require(Set(prints).count == 3, "two sessions have the same certificate")
        },
        Case(
            "ENC-24", "5.2", "connection data that was changed in transit is detected",
            stimulus:
                "S gets T's data with the preference changed from optional to none; T refers to what it issued",
            expectation: "UNKNOWN_PEER", rules: ["hello.refs"],
            bugs: [.seen("hello-ignores-refs", by: "CLOSE(UNKNOWN_PEER)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .optional))
            let tester = try caseRun.tester(beside: session, preference: .optional)
            var issued = tester.data(for: session.uid)
            let mine = issued.bytes
            issued.preference = .none
            issued.fingerprint = nil
            let theirs = try session.data(for: tester.endpoint.uid)
            try session.connect(issued.bytes)
            let linkParameters = LinkParameters(
                mine: mine, myToken: issued.token, theirs: theirs,
                theirData: try ConnectionData(ofSubject: theirs),
                me: tester.endpoint)
            let link = try tester.dial(linkParameters, plain: true)
            try link.expectReady()
            link.sendHello()
            try link.expectClose(.unknownPeer)
            let secure = try tester.dial(linkParameters)
            secure.caseRun.loop.wait(.seconds(2)) { secure.ending != nil || secure.connection.isReady }
            if secure.ending == nil {
                secure.sendHello()
                caseRun.loop.wait(.seconds(3)) { secure.ending != nil }
            }
            try caseRun.require(!secure.waiting.contains { $0.kind == .hello }, "S greets over TLS")
            caseRun.isSessionSpent = true
        },
    ]
}

extension CaseRun {
    /// Creates a file with this text, which is removed at the end of the run.
    func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "conform-\(random.next()).pem"
        do { try text.write(toFile: path, atomically: true, encoding: .utf8) } catch {
            throw SuiteFault("cannot write \(path)")
        }
        files.append(path)
        return path
    }
}
