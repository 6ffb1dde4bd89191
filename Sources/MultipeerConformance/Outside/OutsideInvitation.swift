/// One invitation to a peer that is judged from outside: how its connection data is obtained, and the tester's is delivered.
/// Spec 12.
final class OutsideInvitation {
    private let caseRun: CaseRun
    private let target: OutsidePeer.Address
    private var open: TesterInvitation?

    init(_ target: OutsidePeer.Address, in caseRun: CaseRun) {
        self.target = target
        self.caseRun = caseRun
    }

    /// The peer has not accepted.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    /// Invites the peer as `uid`, and returns the connection data with which it answers. It may be busy with the end of the
    /// last link, or starting again, so it is invited several times.
    func data(for uid: [UInt8], named name: String, within duration: Duration) throws -> [UInt8] {
        let deadline = ContinuousClock.now + duration
        var failures: [String] = []
        while true {
            do {
                return try attempt(uid, name, until: deadline)
            } catch let failure as CaseFailure {
                // Refusals are counted: after a few the peer would be quiet for minutes.
                guard !failure.description.contains("ANSWER(DECLINED)") else {
                    throw Refusal(
                        description: "it declines: it must accept without asking, and know the context")
                }
                if failures.count < 2 { failures.append(failure.description) }
                guard ContinuousClock.now < deadline else {
                    throw Refusal(description: failures.joined(separator: "; "))
                }
            }
            caseRun.loop.wait(.milliseconds(200))
        }
    }

    private func attempt(_ uid: [UInt8], _ name: String, until deadline: ContinuousClock.Instant) throws
        -> [UInt8]
    {
        // No one connects to it: the data that is delivered is another's. There may be no address of the other family.
        let here = target.place.address.count == 4 ? [127, 0, 0, 1] : [UInt8](repeating: 0, count: 15) + [1]
        let tester = try Tester(name, uid: uid, preference: .required, address: here, in: caseRun)
        let invitation = try TesterInvitation(tester, at: target.place)
        defer { if open == nil { invitation.link.connection.close() } }
        try invitation.invite([UInt8](repeating: 0, count: 16), context: Array(target.context.utf8))
        let answer = try invitation.expectAnswer(.ok, within: deadline - .now)
        guard let data = answer else { throw CaseFailure("no data in ANSWER(OK)") }
        open = invitation
        return data
    }

    /// Delivers the tester's data, and gives the peer time to read it: the link is another connection.
    func complete(_ data: [UInt8]) {
        guard let open else { return }
        open.link.send(Frame(.complete, InvitationFrames.complete(id: open.id, data: data).bytes))
        _ = open.link.connection.flush(within: .seconds(1))
        open.link.connection.close()
        self.open = nil
        caseRun.loop.wait(.milliseconds(150))
    }
}
