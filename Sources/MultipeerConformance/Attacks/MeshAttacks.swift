import Foundation

/// Attacks by an unauthenticated peer that was invited into an open room.
enum MeshAttacks {
    static let all: [Attack] = [
        Attack(
            name: "ghosts",
            summary: "uid=HEX port=N context=TEXT [count=N]: reports members that do not exist"
        ) { run in
            let (member, link) = try run.member()
            let victim = link.linkParameters.theirData.endpoint
            let ghosts = run.ghosts(try run.number("count", 7), of: member, at: [member.tester.candidate])
            for entry in ghosts { link.send(entry.frame) }
            link.send(member.entry([victim] + ghosts.map(\.endpoint)).frame)
            try link.expectAlive()
            run.tell(["linked": .bool(true), "ghosts": .number(Double(ghosts.count))])
            run.hold()
            run.tell(["alive": .bool(link.ending == nil)])
        },
        Attack(
            name: "scan",
            summary:
                "uid=HEX port=N context=TEXT target=PORT [seconds=N]: reports ever new members, each with "
                + "other addresses in 127.0.2.0/23, and 8 that all have; of these some are silent, others refuse"
        ) { run in
            let target: UInt16 = try run.number("target")
            let silent = try (1...4).map {
                try TCPSocket.listening(on: [127, 0, 1, UInt8($0)], port: target)
            }
            let (member, link) = try run.member()
            let victim = link.linkParameters.theirData.endpoint
            run.tell(["linked": .bool(true)])
            let end = ContinuousClock.now + .seconds(try run.number("seconds", 20))
            var listed: [Endpoint] = []
            var fresh = 0
            while ContinuousClock.now < end, link.ending == nil {
                for _ in 0..<(listed.isEmpty ? 30 : 8) {
                    // First those that all of them have, so that they would be dialled again and again.
                    let shared = (1...8).map { Candidate(address: [127, 0, 1, UInt8($0)], port: target) }
                    let own = (fresh..<fresh + 8).map { run.address($0, after: target) }
                    fresh += 8
                    let ghost = run.ghosts(1, of: member, at: shared + own)[0]
                    link.send(ghost.frame)
                    listed = listed.suffix(29) + [ghost.endpoint]
                }
                link.send(member.entry([victim] + listed).frame)
                run.caseRun.loop.wait(.seconds(1)) { link.ending != nil }
            }
            run.tell(["addresses": .number(Double(fresh + 8)), "alive": .bool(link.ending == nil)])
            run.hold()
            _ = silent
        },
        Attack(
            name: "names",
            summary: "uid=HEX port=N context=TEXT names=FILE: joins as many peers, one for each line"
        ) { run in
            let names = try String(contentsOfFile: run.text("names"), encoding: .utf8).split(separator: "\n")
            var links: [TesterLink] = []
            for name in names {
                let (_, link) = try run.member(named: String(name), isMesh: false)
                links.append(link)
            }
            run.tell(["linked": .number(Double(links.count))])
            run.hold()
        },
    ]
}

extension AttackRun {
    /// Invites the victim, which accepts, and links with it.
    fileprivate func member(
        named name: String = "mallory", isMesh: Bool = true
    ) throws -> (Member, TesterLink) {
        let victim = try uid("uid")
        let tester = try Tester(
            name, uid: caseRun.uid(beside: victim), preference: .required, in: caseRun)
        let member = Member(tester)
        if !isMesh { tester.flags = 0 }
        let inviting = try TesterInvitation(tester, port: number("port"))
        try inviting.invite(victim, context: Array(text("context").utf8))
        guard let theirs = try inviting.expectAnswer(.ok) else { throw CaseFailure("no data in ANSWER") }
        let data = inviting.complete(victim)
        inviting.link.connection.close()
        let parameters = LinkParameters(
            mine: data.bytes, myToken: data.token, theirs: theirs, theirData: try ConnectionData(theirs),
            me: tester.endpoint)
        let link = try untilExpected { try candidate(tester, parameters) }
        try link.select()
        if isMesh { link.send(member.entry([parameters.theirData.endpoint]).frame) }
        return (member, link)
    }

    /// Returns one of many addresses without a listener.
    fileprivate func address(_ number: Int, after port: UInt16) -> Candidate {
        let host = UInt8(number % 250 + 1)
        let net = UInt8(2 + number / 250 % 2)
        return Candidate(address: [127, 0, net, host], port: port + UInt16(number / 500))
    }

    /// Returns the entries of members that do not exist and have these addresses; each lists the attacker.
    fileprivate func ghosts(_ count: Int, of member: Member, at addresses: [Candidate]) -> [MemberEntry] {
        (0..<count).map { _ in
            var data = member.data
            data.endpoint = Endpoint(
                uid: caseRun.uid(beside: member.endpoint.uid), instance: caseRun.random.bytes(8))
            data.token = caseRun.random.bytes(32)
            data.candidates = addresses
            return MemberEntry(data.endpoint, 1, list: [member.endpoint], data: data.bytes)
                .signed(with: member.tester.identity)
        }
    }
}
