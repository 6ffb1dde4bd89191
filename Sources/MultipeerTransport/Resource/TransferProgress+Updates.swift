extension TransferProgress {
    /// The progress of a transfer as it goes on, for as many watchers as want it.
    ///
    /// Each gets the state at once, then the latest whenever it has changed, at most 20 times a second, and one that has
    /// not changed twice a second. What a slow watcher misses is gone. The last one is how the transfer ended; it is
    /// handed out to those that come later, too.
    public struct Updates: AsyncSequence, Sendable {
        /// How far the transfer has come.
        public typealias Element = TransferProgress
        /// It never fails.
        public typealias Failure = Never

        static let shortestPause = Duration.milliseconds(50)
        static let longestPause = Duration.milliseconds(500)

        private let meter: ProgressMeter

        package init(_ meter: ProgressMeter) { self.meter = meter }

        /// Begins with the present state.
        public func makeAsyncIterator() -> Iterator { Iterator(meter: meter) }

        /// Hands out the latest state.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let meter: ProgressMeter
            private var last: TransferProgress?
            private var isOver = false

            fileprivate init(meter: ProgressMeter) { self.meter = meter }

            /// The next state that is worth a look; nil after the last, or when the task is cancelled.
            public mutating func next() async -> TransferProgress? {
                if isOver { return nil }
                if let last {
                    do { try await Pause.sleep(for: Updates.shortestPause) } catch { return nil }
                    await meter.change(
                        from: last.completed, within: Updates.longestPause - Updates.shortestPause)
                    if Task.isCancelled { return nil }
                }
                let (progress, isFinal) = meter.reading()
                isOver = isFinal
                last = progress
                return progress
            }
        }
    }
}
