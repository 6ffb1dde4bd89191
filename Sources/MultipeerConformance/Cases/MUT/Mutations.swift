/// Mutated frames on links, one after the other: whatever the result of each, the subject must go on.
struct Mutations {
    let caseRun: CaseRun
    let pair: Pair
    /// Makes a link; the subject reports connected.
    let join: () throws -> TesterLink
    /// Returns what is mutated; called again each time.
    let transcript: (TesterLink) -> [Frame]

    /// Calls `watch` every hundred rounds.
    func run(_ count: Int, watch: () throws -> Void = {}) throws {
        var mutator = Mutator(random: caseRun.random)
        caseRun.note("seed \(caseRun.random)")
        var link: TesterLink?
        var done = 0
        var closed = 0
        while done < count {
            done += 1
            let current = try link ?? join()
            link = current
            let frames = mutator.mutate(transcript(current).map(\.bytes))
            current.send(raw: frames.flatMap(\.self), "mutation \(done)")
            current.send(.ping())
            caseRun.loop.wait(.milliseconds(200)) {
                current.ending != nil || current.waiting.contains { $0.kind == .pong || $0.kind == .close }
            }
            let isAlive =
                current.ending == nil && current.waiting.contains { $0.kind == .pong }
                && !current.waiting.contains { $0.kind == .close }
            while current.takeFirst() != nil {}
            if !isAlive {
                closed += 1
                current.connection.close()
                try settle()
                link = nil
            }
            forgetEvents()
            try caseRun.require(
                caseRun.subject().isRunning, "mutation \(done): the subject's process has ended")
            if done % 100 == 0 { try watch() }
        }
        caseRun.note("\(closed) of \(count) mutations ended the link")
        if let link {
            link.send(.close(.goodbye))
            try link.expectEnd()
            try settle()
        }
    }

    /// Waits until the subject reports that the link has ended.
    private func settle() throws {
        try pair.session.expectNotConnected(pair.tester.endpoint.uid, within: .seconds(8))
        pair.tester.dismissCallers()
    }

    /// Discards the events of the application.
    private func forgetEvents() {
        pair.session.subject.events.removeAll { event in
            let kind = event["event"]?.text
            return kind != "state" || event["state"]?.text == "connecting"
        }
    }
}
