import MultipeerTransport

/// Where the invitations of an advertiser come in: at a listener of its own for each run, from one `stop` to the next.
final class ListenerSlot: Sendable {
    /// A run, from before its start on.
    final class Run: Sendable {
        /// Settled by the start, or with nil by the end if there was none.
        private let listener = Promise<InvitationListener?>()
        private let isOver = Locked(false)

        fileprivate func begin(_ listener: InvitationListener) { self.listener.send(listener) }

        fileprivate func end() {
            isOver.withLock { $0 = true }
            listener.send(nil)
        }

        /// The next invitation, once the run has begun; nil after its end, or when the task is cancelled.
        func next() async -> Invitation? {
            guard let listener = await listener.valueUnlessCancelled() ?? nil else { return nil }
            var questions = listener.questions.makeAsyncIterator()
            // One that is taken while the advertiser stops can only be answered in vain.
            guard let question = await questions.next(), !isOver.withLock({ $0 }) else { return nil }
            return Invitation(question, to: listener)
        }
    }

    private let current = Locked(Run())

    /// The run that goes on, or the next one.
    var run: Run { current.withLock { $0 } }

    /// The run begins.
    func open(_ listener: InvitationListener) { run.begin(listener) }

    /// Ends the run for good: nobody is left to start another.
    func finish() { run.end() }

    /// Ends the run, begun or not, for all who iterate.
    func close() {
        let ended = current.withLock { current in
            defer { current = Run() }
            return current
        }
        ended.end()
    }
}
