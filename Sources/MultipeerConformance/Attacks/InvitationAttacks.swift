/// Attacks by anyone on the network on a peer that accepts invitations.
enum InvitationAttacks {
    static let all: [Attack] = [
        Attack(
            name: "hoard",
            summary: "uid=HEX port=N context=TEXT [addresses=N]: invites from that many addresses of "
                + "127.0.1.0/24, for as long as possible, and at once again after each answer"
        ) { run in
            let victim = try run.uid("uid")
            let context = Array(try run.text("context").utf8)
            let port: UInt16 = try run.number("port")
            let identity = try TLSIdentity()
            var places: [InvitationPlace] = try (1...(try run.number("addresses", 16))).map {
                (number: UInt8) in
                let tester = try Tester(
                    "mallory-\(number)", uid: run.caseRun.random.uid(), preference: .required,
                    in: run.caseRun)
                tester.invitationIdentity = identity
                return InvitationPlace(tester: tester, address: [127, 0, 1, number])
            }
            var isTold = false
            while !run.isOver {
                for index in places.indices { try places[index].proceed(victim, port, context) }
                if !isTold, places.allSatisfy({ $0.invitations > 0 }) {
                    run.tell(["invited": .number(Double(places.count))])
                    isTold = true
                }
                run.caseRun.loop.wait(.milliseconds(20)) { run.isOver }
            }
            run.tell([
                "invitations": .number(Double(places.reduce(0) { $0 + $1.invitations })),
                "declined": .array(places.map { .number(Double($0.answers[.declined] ?? 0)) }),
                "busy": .number(Double(places.reduce(0) { $0 + ($1.answers[.busy] ?? 0) })),
            ])
        },
        Attack(
            name: "reserve",
            summary: "uid=HEX port=N context=TEXT as=HEX name=TEXT: invites with another peer's uid and "
                + "name, from 127.0.1.1"
        ) { run in
            let victim = try run.uid("uid")
            let tester = try Tester(
                run.text("name"), uid: run.uid("as"), preference: .required, in: run.caseRun)
            let inviting = try TesterInvitation(tester, port: run.number("port"), from: [127, 0, 1, 1])
            try inviting.invite(victim, timeout: 600, context: Array(run.text("context").utf8))
            try inviting.link.expectQuiet(for: .milliseconds(500))
            run.tell(["invited": .bool(true)])
            run.caseRun.loop.wait(.seconds(600)) {
                run.isOver || inviting.link.ending != nil || !inviting.link.waiting.isEmpty
            }
            run.tell(["answer": .string(inviting.answer.map { "\($0)" } ?? "")])
            run.hold()
        },
    ]
}

/// One address of an attacker, and the invitation that it holds.
private struct InvitationPlace {
    let tester: Tester
    let address: [UInt8]
    private var open: TesterInvitation?
    private var pause = ContinuousClock.now
    private(set) var invitations = 0
    private(set) var answers: [CloseCode: Int] = [:]

    init(tester: Tester, address: [UInt8]) {
        self.tester = tester
        self.address = address
    }

    /// Takes the answer, if there is one, and invites again.
    mutating func proceed(_ victim: [UInt8], _ port: UInt16, _ context: [UInt8]) throws {
        if let inviting = open {
            guard inviting.answer != nil || inviting.link.ending != nil else { return }
            if let code = inviting.answer { answers[code, default: 0] += 1 }
            if inviting.answer == .busy { pause = .now + .milliseconds(250) }
            inviting.link.connection.close()
            open = nil
        }
        guard ContinuousClock.now >= pause else { return }
        let inviting = try TesterInvitation(tester, port: port, from: address)
        do {
            // Another peer each time, as far as the victim can know.
            try inviting.invite(victim, as: tester.caseRun.random.uid(), timeout: 600, context: context)
            open = inviting
            invitations += 1
        } catch {
            pause = .now + .milliseconds(250)
        }
    }
}

extension TesterInvitation {
    /// The code of the ANSWER, or of CLOSE in its place; nil if there is none yet.
    fileprivate var answer: CloseCode? {
        guard let frame = link.waiting.first(where: { $0.kind == .answer || $0.kind == .close }) else {
            return nil
        }
        if frame.kind == .close { return frame.code }
        let entries = try? [TLVEntry].read(frame.payload, known: [1, 2, 3])
        guard let number = entries?.first(InvitationFrames.Field.code), number.count == 2 else { return nil }
        return CloseCode(rawValue: UInt16(number[0]) << 8 | UInt16(number[1]))
    }
}
