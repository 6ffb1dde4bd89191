/// Chapter 5: what TLS must be like, and trust.
enum TLSCases {
    static let all: [Case] = handshakes + groups + certificates + trust

    private static let handshakes: [Case] = [
        Case(
            "ENC-13", "5.3", "no TLS but 1.3",
            stimulus: "T offers TLS 1.2 alone, as client and as server; then 1.2 and 1.3",
            expectation: "refused; TLS 1.3", rules: ["tls.version"],
            bugs: [.seen("accepts-tls-1.2", by: "still open")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            try pair.refusesTLS("version 1.2") { ($0.lowest, $0.highest) = (.tls12, .tls12) }
            var setup = pair.tester.setup(isServer: false)
            setup.lowest = .tls12
            let link = try pair.tester.dial(pair.linkParameters, tls: setup)
            try link.expectReady()
            try caseRun.require(
                link.connection.tls?.version == TLSEnd.Version.tls13.rawValue, "an older version is chosen")
            try link.complete()
        },
        Case(
            "ENC-14", "5.3", "no protocol but mpc/1",
            stimulus: "no ALPN, h2, mpc-invite/1, as client and as server; as client, mpc/1 with h2",
            expectation: "refused; S shows no certificate to such a client", rules: ["tls.alpn"],
            bugs: [
                .seen("alpn-unchecked", by: "still open"),
                .seen("certificate-before-alpn", by: "certificate"),
            ],
            orders: UIDOrder.allCases,
            seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            // A peer that is judged from outside accepts invitations, at the same port if it likes.
            let invitation = pair.session.outside == nil ? [["mpc-invite/1"]] : []
            for names in [[], ["h2"], ["mpc/2"], ["mpc/1x"]] + invitation {
                try pair.refusesTLS("ALPN \(names)", hidesCertificate: true) { $0.protocols = names }
            }
            try pair.refusesTLS("ALPN mpc/1 and h2", whenServer: [false], hidesCertificate: true) {
                $0.protocols = ["mpc/1", "h2"]
            }
        },
        Case(
            "ENC-15", "5.3", "a client without a certificate is refused", stimulus: "T dials and shows none",
            expectation: "refused, no frame", rules: ["tls.client-certificate"],
            bugs: [.seen("skips-client-certificate", by: "still open")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            try pair.refusesTLS("no certificate", whenServer: [false]) { $0.identity = nil }
        },
        Case(
            "ENC-20", "5.3", "no TLS session is resumed",
            stimulus: "T hands out two tickets and waits for the next connection, three times; T dials S",
            expectation: "no pre-shared key and no early data; S ends the connection; S hands out no ticket",
            rules: ["tls.no-resumption"],
            bugs: [
                .seen("hands-out-tickets", by: "hands out a session ticket"),
                .seen("accepts-tickets", by: "still open"),
            ], orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            for round in 0..<3 {
                var setup = pair.tester.setup(isServer: true)
                setup.tickets = 2
                let link = try pair.tester.accepted(pair.linkParameters, tls: setup)
                try link.expectReady()
                let hello = try caseRun.clientHello(link)
                try caseRun.require(!hello.resumes, "connection \(round + 1) resumes the one before")
                // The deadline for HELLO, which T does not send, is 5 s.
                try link.expectEnd(within: .seconds(3))
            }
            let link = try pair.tester.dial(pair.linkParameters)
            try link.complete()
            try link.expectAlive()
            try caseRun.require(link.connection.tls?.hasTicket == false, "S hands out a session ticket")
        },
        Case(
            "ENC-25", "5.3", "the ClientHello has the required contents and no others", stimulus: "S dials",
            expectation:
                "TLS 1.3 alone, ALPN mpc/1 alone, X25519 and TLS_AES_128_GCM_SHA256 offered, no server name",
            rules: ["tls.version", "tls.alpn", "privacy.clear"],
            bugs: [
                .seen("offers-two-protocols", by: "ALPN"), .seen("sends-server-name", by: "a server name"),
            ],
            orders: [.testerHigher]
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let link = try pair.tester.accepted(pair.linkParameters)
            try link.expectReady()
            let hello = try caseRun.clientHello(link)
            try caseRun.require(hello.versions == [0x0304], "versions \(hello.versions)")
            try caseRun.require(hello.protocols == ["mpc/1"], "ALPN \(hello.protocols)")
            try caseRun.require(hello.groups.contains(0x001d), "X25519 is not offered")
            try caseRun.require(hello.suites.contains(0x1301), "TLS_AES_128_GCM_SHA256 is not offered")
            try caseRun.require(!hello.hasServerName, "a server name is sent")
            if !hello.suites.contains(0x1303) { caseRun.weak("TLS_CHACHA20_POLY1305_SHA256 is not offered") }
            try link.complete()
        },
    ]

    private static let groups: [Case] = [
        Case(
            "ENC-29", "5.3", "no group and no suite but those of the table",
            stimulus:
                "T offers P-384 alone, TLS_AES_128_CCM_SHA256 alone; then X25519 and TLS_AES_128_GCM_SHA256",
            expectation: "refused twice; linked. S offers nothing else", rules: ["tls.suites"],
            bugs: [.seen("any-group", by: "groups")], orders: [.testerHigher]
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let greeted = try pair.tester.accepted(pair.linkParameters)
            try greeted.expectReady()
            let hello = try caseRun.clientHello(greeted)
            try caseRun.require(
                Set(hello.groups).isSubset(of: [0x11ec, 0x1d, 0x17]), "S offers the groups \(hello.groups)")
            try caseRun.require(
                Set(hello.suites).isSubset(of: [0x1301, 0x1302, 0x1303, 0xff]),
                "S offers the suites \(hello.suites)")
            greeted.connection.close()
            try pair.refusesTLS("P-384", whenServer: [false]) { $0.groups = "P-384" }
            try pair.refusesTLS("CCM", whenServer: [false]) { $0.suites = "TLS_AES_128_CCM_SHA256" }
            var setup = pair.tester.setup(isServer: false)
            (setup.groups, setup.suites) = ("X25519", "TLS_AES_128_GCM_SHA256")
            try pair.tester.dial(pair.linkParameters, tls: setup).complete()
        }
    ]

    private static let certificates: [Case] = [
        Case(
            "ENC-16", "5.3", "an unknown certificate is refused in TLS",
            stimulus: "T shows another certificate than it pinned",
            expectation: "refused, no frame is answered", rules: ["tls.pin"],
            bugs: [.seen("ignores-fingerprint", by: "still open")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let stranger = try TLSIdentity()
            try pair.refusesTLS("another certificate") { $0.identity = stranger }
        },
        Case(
            "ENC-17", "5.3", "a peer without the key is refused",
            stimulus: "the right certificate, signed with another key",
            expectation: "refused", rules: ["tls.pin"],
            bugs: [.seen("skips-client-certificate", by: "still open")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let thief = try pair.tester.identity?.withForeignKey()
            try pair.refusesTLS("a foreign key") { $0.identity = thief }
        },
        Case(
            "ENC-18", "3.4", "a long chain is refused",
            stimulus: "9 certificates; 24 KiB; 64 KiB; then 8 certificates",
            expectation: "refused, refused, refused, connected", rules: ["chain.limit"],
            bugs: [.seen("chain-unbounded", by: "still open")],
            orders: UIDOrder.allCases, seconds: 30
        ) { caseRun in
            let pair = try caseRun.pair(.init(preference: .required))
            let small = try (0..<8).map { _ in try TLSIdentity().leaf }
            let large = try (0..<8).map { _ in try TLSIdentity(padding: 8_000).leaf }
            for (what, issuers) in [("9", small), ("24 KiB", Array(large.prefix(3))), ("64 KiB", large)] {
                try pair.refusesTLS("a chain of \(what)") {
                    $0.identity = $0.identity?.with(issuers: issuers)
                }
            }
            var setup = pair.tester.setup(isServer: false)
            setup.identity = setup.identity?.with(issuers: Array(small.prefix(7)))
            let link = try pair.tester.dial(pair.linkParameters, tls: setup)
            try link.complete()
        },
        Case(
            "ENC-19", "5.3", "dates of a pinned certificate do not matter",
            stimulus: "T's certificate has expired; or is not valid yet",
            expectation: "connected", rules: ["tls.dates"], bugs: ["checks-dates"], orders: UIDOrder.allCases
        ) { caseRun in
            for validity in [("19990101000000Z", "20000101000000Z"), ("20900101000000Z", "20910101000000Z")] {
                let session = try caseRun.session(.init(preference: .required))
                let tester = try caseRun.tester(beside: session, preference: .required)
                tester.identity = try TLSIdentity(validity: validity)
                _ = try caseRun.introduce(session, tester).link()
            }
        },
        Case(
            "ENC-26", "5.3", "a weak key is refused in TLS",
            stimulus: "T's key is RSA with 1,024 bits, and pinned", expectation: "refused, no frame",
            rules: ["tls.strength"], bugs: [.seen("accepts-weak-keys", by: "still open")],
            orders: UIDOrder.allCases
        ) { caseRun in
            let session = try caseRun.session(.init(preference: .required))
            let tester = try caseRun.tester(beside: session, preference: .required)
            tester.identity = try TLSIdentity(rsaBits: 1_024)
            try caseRun.introduce(session, tester).refusesTLS("RSA-1024") { _ in }
        },
    ]

    private static let trust: [Case] = [
        Case(
            "ENC-22", "5.4", "the application decides, in time",
            stimulus: "the application accepts; rejects; never answers",
            expectation: "connected; REJECTED; TIMEOUT after 30 s, and no CONFIRM before",
            rules: ["trust.before-confirm"],
            bugs: ["confirms-before-trust", .seen("trust-without-deadline", by: "CLOSE expected")],
            orders: UIDOrder.allCases, seconds: 90
        ) { caseRun in
            caseRun.isSessionSpent = true
            let good = try caseRun.pair(.init(preference: .required, trust: "accept"))
            _ = try good.link()
            try caseRun.require(
                good.session.event("certificate", within: .seconds(2)) != nil, "the application is not asked")
            for (answer, code) in [("reject", CloseCode.rejected), ("hang", .timeout)] {
                let pair = try caseRun.pair(.init(preference: .required, trust: answer))
                let start = ContinuousClock.now
                let link = try pair.tester.dial(pair.linkParameters)
                try link.greet()
                link.sendConfirm()
                // 30 s; a busy machine may be late, and a subject without a deadline never sends it.
                let closing = try link.closing(within: .seconds(45))
                try caseRun.require(closing.frame.code == code, "\(closing.frame.words) came, not \(code)")
                try caseRun.require(
                    !closing.before.contains { $0.kind == .confirm }, "CONFIRM came before the decision")
                let delay = ContinuousClock.now - start
                try caseRun.require(answer == "reject" || delay > .seconds(28), "closed after \(delay)")
            }
        },
        Case(
            "ENC-23", "5.4", "one question for each peer", stimulus: "two connections race to the question",
            expectation: "the application is asked once", rules: ["trust.once"],
            bugs: [.seen("asks-twice", by: "asked twice")],
            orders: UIDOrder.allCases
        ) { caseRun in
            caseRun.isSessionSpent = true
            let pair = try caseRun.pair(.init(preference: .required, trust: "hang"))
            let links = try (0..<2).map { _ in try pair.tester.dial(pair.linkParameters) }
            for link in links {
                try link.greet()
                link.sendConfirm()
            }
            try caseRun.require(
                pair.session.event("certificate", within: .seconds(3)) != nil, "the application is not asked")
            try caseRun.require(
                pair.session.event("certificate", within: .seconds(2)) == nil,
                "the application is asked twice")
        },
    ]
}

extension CaseRun {
    func clientHello(_ link: TesterLink) throws -> ClientHello {
        do throws(Malformed) { return try ClientHello(link.connection.firstBytes) } catch {
            throw CaseFailure("the ClientHello: \(error)")
        }
    }
}

extension Pair {
    /// Checks that S refuses T's TLS before any frame: when T dials, and when S does.
    func refusesTLS(
        _ what: String, whenServer ends: [Bool] = [false, true], hidesCertificate: Bool = false,
        _ change: (inout TLSEnd.Setup) -> Void
    ) throws {
        let caseRun = tester.caseRun
        for isServer in ends {
            caseRun.note("\(what), T is \(isServer ? "server" : "client")")
            var setup = tester.setup(isServer: isServer)
            change(&setup)
            let link =
                isServer
                ? try tester.accepted(linkParameters, tls: setup)
                : try tester.dial(linkParameters, tls: setup)
            caseRun.loop.wait(.seconds(3)) { link.connection.isReady || link.ending != nil }
            if link.ending == nil, !isServer { link.sendHello() }
            try link.expectRefusal()
            guard hidesCertificate, !isServer else { continue }
            try caseRun.require(link.connection.tls?.peerLeaf == nil, "\(what): S shows its certificate")
        }
    }
}
