/// What is done after a case with a peer that is judged from outside: it must be ready for the next one, and still link.
struct OutsideCheck {
    let caseRun: CaseRun

    /// Ends what the case has left open: a peer that waits for a link takes no other invitation meanwhile.
    func settle() {
        caseRun.loop.limit = nil
        caseRun.log.add(.stage, "the exchange after the case")
        for connection in caseRun.loop.connections {
            if connection.isReady { connection.write(Frame.close(.goodbye).bytes) }
            connection.close()
        }
        for pair in caseRun.pairs {
            // It has no effect on a peer for which this pair is over.
            guard let link = try? pair.tester.dial(pair.linkParameters),
                (try? link.complete(within: .seconds(3))) != nil
            else { continue }
            link.send(.close(.goodbye))
            _ = try? link.expectEnd()
        }
    }

    /// Links a peer that keeps all rules.
    func examine() throws {
        let session = try caseRun.session()
        let tester = try caseRun.tester(beside: session, "sanity")
        let link = try caseRun.introduce(session, tester).link()
        try link.expectAlive()
        link.send(.close(.goodbye))
        try link.expectEnd()
    }
}

extension CaseRun {
    /// Returns a uid below or above the session's that no other run uses.
    func freshUID(beside session: SubjectSession, _ order: UIDOrder?) -> [UInt8] {
        let kept = random
        defer { random = kept }
        random = SplitMix64(seed: .random(in: 0...UInt64.max), name: "outside")
        return uid(beside: session, order)
    }
}
