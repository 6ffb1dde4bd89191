import MultipeerPlatform

/// Chapter 11: a mesh that has too many members for too long.
enum MeshExcessCases {
    static let all: [Case] = [
        Case(
            "MSH-17", "11.8", level: .mesh,
            "if the excess member stays, the member with the fewest links leaves",
            stimulus:
                "nine members, of which S is the eighth by uid and the ninth by its links; the ninth by uid stays",
            expectation: "FULL on all links of S after 11 to 12 s", rules: ["mesh.backstop"],
            bugs: [.seen("never-ranks", by: "CLOSE(FULL)")], seconds: 60
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(
                [UIDOrder](repeating: .testerLower, count: 6) + [.testerHigher])
            let eighth = caseRun.strangers(
                1, of: session, like: members[0], listing: members.map(\.endpoint), order: .testerLower)[0]
            let seconds = try caseRun.tell(members, of: eighth, everybodyOf: endpoint) { links in
                for link in links { try link.expectClose([.full], within: .seconds(16)) }
            }
            try caseRun.require((10.5...15).contains(seconds), "S leaves after \(seconds) s")
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-18", "11.8", level: .mesh, "the others evict the excess member",
            stimulus:
                "nine members, of which T7 is linked to S alone and stays; then T1 reports a link to T7, too",
            expectation:
                "UNKNOWN_PEER for T7 after 12 s, all other links live; T7 is dialled no earlier than 5 s later",
            rules: ["mesh.dismiss"],
            bugs: [
                .seen("never-dismisses", by: "CLOSE(UNKNOWN_PEER)"),
                .seen("believes-of-dismissed", by: "is dialled at once"),
            ], seconds: 60
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(7, order: .testerHigher)
            let (six, seventh) = (Array(members.prefix(6)), members[6])
            let eighth = caseRun.strangers(
                1, of: session, like: members[0], listing: six.map(\.endpoint), order: .testerHigher)[0]
            let seconds = try caseRun.tell(six, of: eighth, everybodyOf: endpoint) { _ in
                try seventh.linked().expectClose([.unknownPeer], within: .seconds(18))
            }
            try caseRun.require((11.5...16).contains(seconds), "T7 is sent away after \(seconds) s")
            try session.expectNotConnected(seventh.endpoint.uid)
            for member in six { try member.linked().expectAlive() }
            let calls = seventh.tester.calls.count
            let one = try six[0].linked()
            one.send(seventh.entry([six[0].endpoint]).frame)
            let others = six.map(\.endpoint).filter { $0 != six[0].endpoint }
            one.send(six[0].entry([endpoint, eighth.endpoint, seventh.endpoint] + others).frame)
            caseRun.loop.wait(.seconds(4))
            try caseRun.require(seventh.tester.calls.count == calls, "who was sent away is dialled at once")
            caseRun.loop.wait(.seconds(8)) { seventh.tester.calls.count > calls }
            try caseRun.require(seventh.tester.calls.count > calls, "what was set aside is never taken up")
            caseRun.isSessionSpent = true
        },
        Case(
            "MSH-19", "11.8", level: .mesh, "a suspended process counts again",
            stimulus: "S has the highest uid of nine; after half a second it is stopped for 4 s",
            expectation: "S leaves a second after it continues, and no earlier", rules: ["mesh.suspended"],
            bugs: [.seen("counts-sleep", by: "S leaves")], seconds: 40
        ) { caseRun in
            let (session, endpoint, members) = try caseRun.mesh(7, order: .testerLower)
            let eighth = caseRun.strangers(
                1, of: session, like: members[0], listing: members.map(\.endpoint), order: .testerLower)[0]
            var start = ContinuousClock.now
            _ = try caseRun.tell(members, of: eighth, everybodyOf: endpoint) { links in
                caseRun.loop.wait(.milliseconds(500))
                try caseRun.subject().signal(SIGSTOP)
                caseRun.loop.wait(.seconds(4))
                try caseRun.subject().signal(SIGCONT)
                start = .now
                for link in links { try link.expectClose([.full], within: .seconds(8)) }
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try caseRun.require(seconds > 0.9, "S leaves \(seconds) s after it goes on")
            caseRun.isSessionSpent = true
        },
    ]
}

extension CaseRun {
    /// Lets each of these members send that it is linked to the session, the others and one more, whose entry comes
    /// last. Returns how many seconds `wait` takes from then on.
    fileprivate func tell(
        _ members: [Member], of eighth: MemberEntry, everybodyOf endpoint: Endpoint,
        wait: ([TesterLink]) throws -> Void
    ) throws -> Double {
        for member in members {
            let others = members.map(\.endpoint).filter { $0 != member.endpoint }
            try member.linked().send(member.entry([endpoint, eighth.endpoint] + others).frame)
        }
        let start = ContinuousClock.now
        try members[0].linked().send(eighth.frame)
        try wait(try members.map { try $0.linked() })
        return (ContinuousClock.now - start) / .seconds(1)
    }
}
