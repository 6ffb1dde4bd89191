/// What is done before and after every case: an exchange that must work, and a check of what the subject holds.
struct SanityCheck {
    let caseRun: CaseRun
    /// What the subject held before the case; nil if its shim does not report it.
    private var before: ProcessUsage?
    /// The number of sessions before the case.
    private var sessions = 0

    init(_ caseRun: CaseRun) { self.caseRun = caseRun }

    /// Prepares a case: an exchange on a session that is gone afterwards.
    mutating func prepare() throws {
        try exchange()
        before = try settledHoldings()
        sessions = caseRun.sessions.count
    }

    /// Checks the subject after a case: exchanges on its first session and on a fresh one work, and the subject holds no
    /// more than before.
    func examine() throws {
        caseRun.log.add(.stage, "the exchanges after the case")
        if !caseRun.isSessionSpent, caseRun.sessions.count > sessions {
            try exchange(on: caseRun.sessions[sessions])
        }
        try exchange()
        try compare()
    }

    /// Links a peer that keeps all rules, which sends a message and gets one; on a fresh session, or on one that has been
    /// used.
    func exchange(on used: SubjectSession? = nil) throws {
        let session = try used ?? caseRun.session(.init(), "sanity-\(caseRun.random.next() % 100_000)")
        let preference: Preference = session.preference == .none ? .none : .required
        let tester = try caseRun.tester(beside: session, "sanity", preference: preference)
        let link = try caseRun.introduce(session, tester).link()
        let question = caseRun.random.bytes(100)
        link.send(.message(question))
        try session.expectMessage(question, from: tester.endpoint.uid)
        let answer = caseRun.random.bytes(100)
        try session.send(answer, to: tester.endpoint.uid)
        guard try link.expectMessage() == answer else {
            throw CaseFailure("another message arrived than was sent")
        }
        if used == nil {
            try session.call("disconnect")
            try link.expectClose(.goodbye)
        } else {
            link.send(.close(.goodbye))
            try link.expectEnd()
            try session.expect("notConnected", of: tester.endpoint.uid)
        }
    }

    /// Returns what the subject holds without a session. What a program creates once and keeps, such as the threads of a
    /// pool, is created by the first sessions, so some are created and forgotten until nothing more is added.
    private func settledHoldings() throws -> ProcessUsage? {
        guard try forgetSessions(), var most = try caseRun.subject().processUsage() else { return nil }
        var idle = 0
        for _ in 0..<64 where idle < 3 {
            _ = try caseRun.session().data(for: nil)
            try forgetSessions()
            guard let now = try caseRun.subject().processUsage() else { return nil }
            idle = now.descriptors > most.descriptors || now.threads > most.threads ? 0 : idle + 1
            most = now
        }
        return most
    }

    /// Ends all sessions for good; returns false if the shim cannot.
    @discardableResult
    private func forgetSessions() throws -> Bool {
        do {
            for session in caseRun.sessions { try session.call("forget") }
        } catch is Skip {
            caseRun.note("the shim cannot forget a session: its memory is not compared")
            return false
        }
        caseRun.sessions = []
        return true
    }

    /// Ends all sessions and waits until the subject holds no more than before.
    private func compare() throws {
        guard let before, try forgetSessions() else { return }
        var excess = ""
        for _ in 0..<40 {
            guard let now = try caseRun.subject().processUsage() else { return }
            excess = now.excess(over: before, allowance: caseRun.allowance)
            if excess.isEmpty { return }
            caseRun.loop.wait(.milliseconds(250))
        }
        for line in try caseRun.subject().openDescriptors { caseRun.note("descriptor \(line)") }
        throw CaseFailure("the subject holds more than before: \(excess)")
    }
}
