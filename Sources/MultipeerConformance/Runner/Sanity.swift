import Foundation

/// What is done before and after every case: an exchange that must work, and a look at what the subject holds.
extension Trial {
    /// A peer that keeps all rules links, sends a message and gets one; on a fresh session, or on one that has been used.
    func exchange(on used: SubjectSession? = nil) throws {
        let session = try used ?? session(.init(), "sanity-\(random.next() % 100_000)")
        let preference: Preference = session.preference == .none ? .none : .required
        let tester = try tester(beside: session, "sanity", preference: preference)
        let pair = try introduce(session, tester)
        let link = try pair.link()
        let question = random.bytes(100)
        link.send(.message(question))
        try session.expectMessage(question, from: tester.endpoint.uid)
        let answer = random.bytes(100)
        try session.send(answer, to: tester.endpoint.uid)
        guard try link.expectMessage() == answer else { throw Failure("another message came than was sent") }
        if used == nil {
            try session.call("disconnect")
            try link.expectClose(.goodbye)
        } else {
            link.send(.close(.goodbye))
            try link.expectEnd()
            try session.expect("notConnected", of: tester.endpoint.uid)
        }
    }

    /// After the case: exchanges on its first session and on a fresh one, and the subject holds no more than before.
    func examine(from first: Int, _ before: Holdings?) throws {
        log.add(.note, "the exchanges after the case")
        if !isSessionSpent, sessions.count > first { try exchange(on: sessions[first]) }
        try exchange()
        try compare(with: before)
    }

    /// Before the case: an exchange on a session that is gone afterwards.
    func prepare() throws -> Holdings? {
        try exchange()
        guard try forgetSessions(), var most = try holdings() else { return nil }
        // What a program makes once and keeps, as threads of a pool, is made by the first sessions.
        var idle = 0
        for _ in 0..<64 where idle < 3 {
            _ = try session().data(for: nil)
            try forgetSessions()
            guard let now = try holdings() else { return nil }
            idle = now.descriptors > most.descriptors || now.threads > most.threads ? 0 : idle + 1
            most = now
        }
        return most
    }

    /// What the subject holds; nil if its shim does not say.
    struct Holdings: Sendable {
        let memory: Int
        let descriptors: Int
        let threads: Int
    }

    func holdings() throws -> Holdings? {
        let answer = try subject().ask("stats")
        if answer["unimplemented"]?.isTrue == true { return nil }
        guard let rss = answer["rss"]?.int, let descriptors = answer["fds"]?.int,
            let threads = answer["threads"]?.int
        else { return nil }
        // Where the system tells, what a runtime makes once when it is first needed, as a timer, does not count.
        let open = try subject().openDescriptors.filter { !$0.contains("anon_inode:") }
        return Holdings(
            memory: answer["heap"]?.int ?? rss, descriptors: open.isEmpty ? descriptors : open.count,
            threads: threads)
    }

    /// Ends all sessions for good; false if the shim cannot.
    @discardableResult
    private func forgetSessions() throws -> Bool {
        do {
            for session in sessions { try session.call("forget") }
        } catch is Skip {
            note("the shim cannot forget a session: what it holds is not compared")
            return false
        }
        sessions = []
        return true
    }

    /// Ends all sessions and waits until the subject holds no more than before.
    private func compare(with before: Holdings?) throws {
        guard let before, try forgetSessions() else { return }
        var excess = ""
        for _ in 0..<40 {
            guard let now = try holdings() else { return }
            excess = now.excess(over: before, allowance: allowance)
            if excess.isEmpty { return }
            pump.wait(.milliseconds(250))
        }
        for line in try subject().openDescriptors { note("descriptor \(line)") }
        throw Failure("the subject holds more than before: \(excess)")
    }
}

extension Trial.Holdings {
    fileprivate func excess(over before: Trial.Holdings, allowance: Int) -> String {
        var words: [String] = []
        if descriptors > before.descriptors {
            words.append("\(descriptors - before.descriptors) descriptors")
        }
        if threads > before.threads + 2 { words.append("\(threads - before.threads) threads") }
        if memory > before.memory + allowance { words.append("\((memory - before.memory) / 1_024) KiB") }
        return words.joined(separator: ", ")
    }
}
