/// Sessions of the subject that are, or become, one mesh.
struct SessionGroup {
    let sessions: [SubjectSession]
    private let caseRun: CaseRun

    init(_ sessions: [SubjectSession], in caseRun: CaseRun) {
        self.sessions = sessions
        self.caseRun = caseRun
    }

    /// Creates `count` sessions, all linked to each other.
    static func linked(_ count: Int, in caseRun: CaseRun) throws -> SessionGroup {
        let sessions = try (0..<count).map { _ in try caseRun.session() }
        for other in sessions.dropFirst() { try sessions[0].acquaint(with: other) }
        let group = SessionGroup(sessions, in: caseRun)
        try group.expectWhole(within: .seconds(15))
        return group
    }

    /// Waits until each of these sessions is connected to all others and to no other peer.
    func expectWhole(within duration: Duration) throws {
        let deadline = ContinuousClock.now + duration
        let all = Set(sessions.map(\.uid.hex))
        while true {
            let seen = try sessions.map { try $0.connections() }
            if zip(sessions, seen).allSatisfy({ $1 == all.subtracting([$0.uid.hex]) }) { return }
            guard ContinuousClock.now < deadline else {
                let counts = seen.map { "\($0.count)" }.joined(separator: ", ")
                throw CaseFailure("not all sessions are linked within \(duration): \(counts) links")
            }
            caseRun.loop.wait(.milliseconds(200))
        }
    }

    /// Waits until those that are linked at all are linked to each other, eight at most, and stay so for a second.
    func expectConsistent(within duration: Duration) throws {
        let deadline = ContinuousClock.now + duration
        var since: ContinuousClock.Instant?
        while true {
            let groups = try connectedSets()
            let isWhole = groups.count == 1 && (groups.first?.count ?? 9) <= 8
            since = isWhole ? since ?? .now : nil
            if let since, ContinuousClock.now - since > .seconds(1) { return }
            guard ContinuousClock.now < deadline else {
                throw CaseFailure("after \(duration) groups of \(groups.map(\.count)) see each other")
            }
            caseRun.loop.wait(.milliseconds(200))
        }
    }

    /// Returns each distinct set of peers that a session sees, itself included; a session that sees no peer does not
    /// count.
    private func connectedSets() throws -> Set<Set<String>> {
        var groups: Set<Set<String>> = []
        for session in sessions {
            let seen = try session.connections()
            if !seen.isEmpty { groups.insert(seen.union([session.uid.hex])) }
        }
        return groups
    }

    /// Ends the sessions, which are no longer needed.
    func forget() throws {
        for session in sessions {
            let answer = try session.ask("forget")
            if answer["unimplemented"]?.isTrue == true {
                try session.call("disconnect")
            } else {
                caseRun.sessions.removeAll { $0 === session }
            }
        }
    }
}
