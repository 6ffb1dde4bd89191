import Foundation

/// Attacks by a peer that is expected: both sides know each other's connection data.
enum LinkAttacks {
    static let all: [Attack] = [
        Attack(
            name: "candidates",
            summary: "theirs=FILE ours=FILE [count=N]: confirms many connections, and selects none"
        ) { run in
            let (tester, parameters) = try run.exchange(.testerLower)
            var links = [try run.untilExpected { try run.candidate(tester, parameters) }]
            var confirmed = 1
            for _ in 1..<(try run.number("count", 300)) {
                let link = try tester.dial(parameters)
                if (try? link.becomeCandidate(within: .seconds(2))) != nil { confirmed += 1 }
                links.append(link)
            }
            run.caseRun.loop.wait(.seconds(1))
            let open = links.filter { $0.ending == nil }
            run.tell([
                "confirmed": .number(Double(confirmed)), "open": .number(Double(open.count)),
                "duplicate": .number(Double(links.count { $0.closeCode == .duplicate })),
            ])
            run.hold()
        },
        Attack(
            name: "keyUpdates",
            summary: "theirs=FILE ours=FILE [count=N]: sends KeyUpdate without end on a link"
        ) { run in
            let (tester, parameters) = try run.exchange(.testerLower)
            let link = try run.untilExpected { try run.candidate(tester, parameters) }
            try link.select()
            try run.flood(link) { $0.updateKeys(isAsking: false) }
        },
        Attack(
            name: "tickets",
            summary: "theirs=FILE ours=FILE [count=N]: sends NewSessionTicket without end on a link"
        ) { run in
            // Only the end that was dialled may send it: so the other one has to dial and select.
            let (tester, parameters) = try run.exchange(.testerHigher)
            try run.flood(tester.link(parameters, within: .seconds(20))) { $0.sendTicket() }
        },
    ]
}

extension AttackRun {
    /// Reads the victim's connection data from the file `theirs`, and writes that of a new peer to `ours`. Its uid is below or
    /// above the victim's.
    fileprivate func exchange(_ order: UIDOrder) throws -> (Tester, LinkParameters) {
        let line = try String(contentsOfFile: text("theirs"), encoding: .utf8).prefix { $0 != "\n" }
        guard let theirs = Data(base64Encoded: String(line)).map({ [UInt8]($0) }) else {
            throw SuiteFault("no connection data in \(try text("theirs"))")
        }
        let theirData = try ConnectionData(theirs)
        let tester = try Tester(
            "mallory", uid: caseRun.uid(beside: theirData.endpoint.uid, order), preference: .required,
            in: caseRun)
        let data = tester.data(for: nil)
        let line64 = Data(data.bytes).base64EncodedString() + "\n"
        try line64.write(toFile: text("ours"), atomically: true, encoding: .utf8)
        return (
            tester,
            LinkParameters(
                mine: data.bytes, myToken: data.token, theirs: theirs, theirData: theirData,
                me: tester.endpoint)
        )
    }

    /// Repeats the attempt until the victim has read the data: before that, it refuses.
    func untilExpected<Value>(_ attempt: () throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + .seconds(15)
        while true {
            do { return try attempt() } catch  where ContinuousClock.now < deadline {
                caseRun.loop.wait(.milliseconds(100))
            }
        }
    }

    func candidate(_ tester: Tester, _ parameters: LinkParameters) throws -> TesterLink {
        let link = try tester.dial(parameters)
        try link.becomeCandidate(within: .seconds(5))
        return link
    }

    /// Repeats something on a link until the victim ends it, and reports how long that took.
    fileprivate func flood(_ link: TesterLink, with one: (TesterConnection) -> Void) throws {
        tell(["linked": .bool(true)])
        let most: Int = try number("count", 500_000)
        let start = ContinuousClock.now
        var sent = 0
        while link.ending == nil, sent < most, !isOver {
            for _ in 0..<50 where link.ending == nil {
                one(link.connection)
                sent += 1
            }
            caseRun.loop.wait(.zero)
            caseRun.loop.wait(.seconds(10)) { link.connection.unsent < 1 << 18 || link.ending != nil }
        }
        tell([
            "sent": .number(Double(sent)), "seconds": .number((ContinuousClock.now - start) / .seconds(1)),
            "ended": .bool(link.ending != nil), "code": .string(link.closeCode.map { "\($0)" } ?? ""),
        ])
        hold()
    }
}
