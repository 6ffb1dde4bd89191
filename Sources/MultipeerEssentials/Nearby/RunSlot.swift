import MultipeerTransport

/// The source that the iterators over a sequence read from: a separate one for each run, from one `stop` to the next.
final class RunSlot<Source: Sendable>: Sendable {
    /// A run, which exists before its start.
    final class Run: Sendable {
        /// Settled by the start, or with nil by the end if there was no start.
        private let begun = Promise<Source?>()
        private let over = Locked(false)

        fileprivate func begin(_ source: Source) { begun.send(source) }

        fileprivate func end() {
            over.withLock { $0 = true }
            begun.send(nil)
        }

        var isOver: Bool { over.withLock { $0 } }

        /// Returns the source once the run has begun; nil if it ended before, or when the task is cancelled.
        func source() async -> Source? { await begun.valueUnlessCancelled() ?? nil }
    }

    private let current = Locked(Run())

    /// The current run, or the next one.
    var run: Run { current.withLock { $0 } }

    /// Begins the run.
    func open(_ source: Source) { run.begin(source) }

    /// Ends the run for good: no owner is left to start another.
    func finish() { run.end() }

    /// Ends the run, begun or not, for all iterators.
    func close() {
        let ended = current.withLock { current in
            defer { current = Run() }
            return current
        }
        ended.end()
    }
}

extension RunSlot.Run {
    /// Returns the next element of a sequence that the source has, and the source; nil once the run is over, or when the task is
    /// cancelled.
    func next<Elements: AsyncSequence>(
        of elements: (Source) -> Elements, isolation actor: isolated (any Actor)?
    ) async -> (element: Elements.Element, source: Source)? where Elements.Failure == Never {
        guard let source = await source() else { return nil }
        var iterator = elements(source).makeAsyncIterator()
        return await iterator.next(isolation: actor).map { ($0, source) }
    }
}
