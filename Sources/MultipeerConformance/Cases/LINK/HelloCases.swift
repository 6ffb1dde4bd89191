/// Chapter 6: what HELLO must contain, and for which receiver.
enum HelloCases {
    static let all: [Case] = [
        Case(
            "LINK-06", "6.2", "a HELLO that is not complete is refused",
            stimulus:
                "HELLO without each of its entries, with each too short and too long, a duplicate entry, out of order",
            expectation: "PROTOCOL each time; then an honest T links",
            rules: ["hello.complete", "tlv.duplicate", "tlv.order"],
            bugs: [
                .seen("hello-incomplete-accepted", by: "CLOSE(PROTOCOL)"),
                .seen("hello-sizes-unchecked", by: "CLOSE(PROTOCOL)"),
            ], orders: UIDOrder.allCases, seconds: 40
        ) { caseRun in
            let pair = try caseRun.pair()
            for field in Hello.Field.mandatory {
                try pair.refusesHello("entry \(field) missing", .protocol) { $0.drop(field) }
                let proper = Hello.Field.versions == field ? 1 : -1
                try pair.refusesHello("entry \(field) too short", .protocol) { hello in
                    let value = hello.entries.first(field) ?? []
                    hello.set(field, proper == 1 ? [] : Array(value.dropLast()))
                }
                try pair.refusesHello("entry \(field) too long", .protocol) { hello in
                    hello.set(field, (hello.entries.first(field) ?? []) + [0])
                }
            }
            try pair.refusesHello("NONCE twice", .protocol) { hello in
                hello.entries = (hello.entries + [TLVEntry(Hello.Field.nonce, .pattern(32))]).sorted
            }
            try pair.refusesHello("out of order", .protocol) { $0.entries.swapAt(3, 4) }
            try pair.refusesHello("unknown and critical", .protocol) { $0.set(0x8123, [1]) }
            try pair.refusesHello("AGENT that is not text", .protocol) {
                $0.set(Hello.Field.agent, [0xff, 0xfe])
            }
            try pair.refusesHello("AGENT of 65 bytes", .protocol) {
                $0.set(Hello.Field.agent, .init(repeating: 97, count: 65))
            }
            try pair.refusesHello("max_message 65,535", .protocol) {
                $0.set(Hello.Field.limits, Limits(message: 65_535).bytes)
            }
            _ = try pair.linkAnyway()
        },
        Case(
            "LINK-07", "6.2", "the highest common version is used, and none is refused",
            stimulus: "VERSIONS {0x2A2A, 1, 0x7A7A}; {2}", expectation: "connected; VERSION",
            rules: ["hello.version", "ext.versions", "ext.grease"],
            bugs: [.seen("hello-any-version", by: "CLOSE expected"), "hello-refuses-grease-version"],
            orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session()
            let tester = try caseRun.tester(beside: session)
            let pair = try caseRun.introduce(session, tester)
            let link = try tester.dial(pair.linkParameters)
            try link.complete { $0.set(Hello.Field.versions, [0x2a, 0x2a, 0, 1, 0x7a, 0x7a]) }
            try session.expect("connected", of: tester.endpoint.uid)
            let other = try caseRun.introduce(session, try caseRun.tester(beside: session, "other"))
            try other.refusesHello("version 2 alone", .version) { $0.set(Hello.Field.versions, [0, 2]) }
            // Only on a connection that S dialled does it know whose attempt is over: check 4 comes before check 7.
            let answered = try other.tester.accepted(other.linkParameters)
            try answered.expectReady()
            try answered.expectHello()
            answered.sendHello { $0.set(Hello.Field.versions, [0, 2]) }
            try answered.expectClose(.version)
            try session.expectNotConnected(other.tester.endpoint.uid, [.version])
        },
        Case(
            "LINK-08", "6.2", "HELLO to or from the wrong endpoint is refused",
            stimulus:
                "RECEIVER with another uid, another instance; SENDER with S's uid, an unknown uid, another instance",
            expectation: "UNKNOWN_PEER; SELF for S's own uid", rules: ["hello.receiver", "hello.sender"],
            bugs: [
                .seen("hello-ignores-receiver", by: "CLOSE expected"),
                .seen("hello-ignores-instance", by: "CLOSE expected"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let theirs = pair.linkParameters.theirData.endpoint, mine = pair.linkParameters.me
            let another = caseRun.random.bytes(8)
            let stranger = caseRun.random.bytes(16)
            try pair.refusesHello("another receiver", .unknownPeer) {
                $0.set(Hello.Field.receiver, stranger + theirs.instance)
            }
            try pair.refusesHello("another receiving instance", .unknownPeer) {
                $0.set(Hello.Field.receiver, theirs.uid + another)
            }
            try pair.refusesHello("the sender is S", .itself) { $0.set(Hello.Field.sender, theirs.bytes) }
            try pair.refusesHello("the sender has S's uid", .itself) {
                $0.set(Hello.Field.sender, theirs.uid + another)
            }
            try pair.refusesHello("an unknown sender", .unknownPeer) {
                $0.set(Hello.Field.sender, stranger + mine.instance)
            }
            try pair.refusesHello("another sending instance", .unknownPeer) {
                $0.set(Hello.Field.sender, mine.uid + another)
            }
            if caseRun.order == .testerLower {
                _ = try pair.linkAnyway()
            } else {
                caseRun.isSessionSpent = true
            }
        },
        Case(
            "LINK-09", "6.2", "HELLO that refers to other connection data is refused",
            stimulus:
                "MY_DATA_REF and YOUR_DATA_REF of data that is unknown, swapped, or S's for another peer",
            expectation: "UNKNOWN_PEER; open data of S is usable", rules: ["hello.refs"],
            bugs: [.seen("hello-ignores-refs", by: "CLOSE expected")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let foreign = ConnectionData.reference(try pair.session.data(for: caseRun.random.bytes(16)))
            let unknown = caseRun.random.bytes(32)
            try pair.refusesHello("my data unknown", .unknownPeer) { $0.set(Hello.Field.myData, unknown) }
            try pair.refusesHello("your data unknown", .unknownPeer) { $0.set(Hello.Field.yourData, unknown) }
            try pair.refusesHello("your data for another peer", .unknownPeer) {
                $0.set(Hello.Field.yourData, foreign)
            }
            try pair.refusesHello("swapped", .unknownPeer) { hello in
                let (mine, yours) = (hello.myData, hello.yourData)
                hello.set(Hello.Field.myData, yours)
                hello.set(Hello.Field.yourData, mine)
            }
            pair.linkParameters.theirs = try pair.session.data(for: nil)
            pair.linkParameters.theirData = try ConnectionData(ofSubject: pair.linkParameters.theirs)
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete()
        },
        Case(
            "LINK-10", "6.2", "the certificate must be the one of the peer that HELLO names",
            stimulus: "S awaits X and Y; T dials with the certificate of X and says that it is Y",
            expectation: "POLICY",
            rules: ["hello.key"], bugs: [.seen("hello-key-of-anybody", by: "CLOSE(POLICY)")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let one = try caseRun.introduce(
                session, try caseRun.tester(beside: session, "X", preference: .required))
            let other = try caseRun.introduce(
                session, try caseRun.tester(beside: session, "Y", preference: .required))
            let link = try other.tester.dial(other.linkParameters, tls: one.tester.setup(isServer: false))
            try link.expectReady()
            link.sendHello()
            try link.expectClose(.policy)
            caseRun.isSessionSpent = true
        },
        Case(
            "LINK-26", "7.1", "HELLO may come byte by byte",
            stimulus: "every byte of HELLO in a segment of its own",
            expectation: "connected", rules: ["frame.header"], bugs: ["hello-in-one-read"],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair()
            let link = try pair.tester.dial(pair.linkParameters)
            try link.expectReady()
            link.sentHello = link.properHello().frame.bytes
            for byte in link.sentHello {
                link.send(raw: [byte], "one byte of HELLO")
                caseRun.loop.wait(.milliseconds(1))
            }
            try link.expectHello()
            link.sendConfirm()
            try link.expectConfirm()
            try link.select()
        },
        Case(
            "LINK-29", "6.2", "a HELLO with too many members is a flood",
            stimulus: "MEMBERS with 33 endpoints",
            expectation: "FLOOD", rules: ["hello.complete"],
            bugs: [.seen("hello-members-unbounded", by: "CLOSE expected")]
        ) { caseRun in
            let pair = try caseRun.pair()
            try pair.refusesHello("33 members", .flood) {
                $0.set(Hello.Field.members, [33] + .pattern(33 * 24))
            }
        },
        Case(
            "LINK-30", "6.2", "a HELLO that answers is checked like one that begins",
            stimulus: "T answers S's HELLO without NONCE, as another endpoint, with other references, twice",
            expectation: "PROTOCOL, UNKNOWN_PEER, UNKNOWN_PEER, PROTOCOL",
            rules: ["hello.complete", "hello.sender", "hello.refs"],
            bugs: [.seen("initiator-trusts-hello", by: "CLOSE(PROTOCOL)")], orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair()
            let another = caseRun.random.bytes(8)
            let unknown = caseRun.random.bytes(32)
            let uid = pair.linkParameters.me.uid
            let steps: [(String, CloseCode, (inout Hello) -> Void)] = [
                ("NONCE missing", .protocol, { $0.drop(Hello.Field.nonce) }),
                ("another instance", .unknownPeer, { $0.set(Hello.Field.sender, uid + another) }),
                ("another reference", .unknownPeer, { $0.set(Hello.Field.myData, unknown) }),
            ]
            for (what, code, change) in steps {
                caseRun.note(what)
                let link = try pair.tester.accepted(pair.linkParameters)
                try link.expectReady()
                try link.expectHello()
                link.sendHello(change)
                try link.expectClose(code)
            }
            let link = try pair.tester.accepted(pair.linkParameters)
            try link.greet()
            link.send(link.properHello().frame)
            try link.expectClose(.protocol)
        },
    ]
}

extension Pair {
    /// Checks that S sends CLOSE with this code, and neither HELLO nor CONFIRM, when T dials and sends a wrong HELLO.
    func refusesHello(_ what: String, _ code: CloseCode, _ change: (inout Hello) -> Void) throws {
        tester.caseRun.note(what)
        let link = try tester.dial(linkParameters)
        try link.expectReady()
        link.sendHello(change)
        let answered = try link.closing(within: .seconds(5))
        guard answered.frame.code == code else {
            throw CaseFailure("\(what): CLOSE(\(code)) expected, \(answered.frame.words) received")
        }
        guard answered.before.isEmpty else {
            throw CaseFailure("\(what): \(answered.before[0].words) came before CLOSE")
        }
    }

    /// Links by a dial of T, whichever end should dial.
    func linkAnyway() throws -> TesterLink {
        let link = try tester.dial(linkParameters)
        try link.complete()
        try session.expect("connected", of: tester.endpoint.uid)
        return link
    }
}
