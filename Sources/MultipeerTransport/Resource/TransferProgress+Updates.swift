extension TransferProgress {
    /// The progress of a transfer over time, for any number of watchers.
    ///
    /// Each receives the present state at once, then the latest state whenever it has changed, at most 20 times a second, and an
    /// unchanged state twice a second. States that a slow watcher misses are skipped. The last one is how the transfer ended;
    /// later watchers receive it, too.
    public struct Updates: AsyncSequence, Sendable {
        /// How far the transfer has come.
        public typealias Element = TransferProgress
        /// The sequence never fails.
        public typealias Failure = Never

        static let shortestPause = Duration.milliseconds(50)
        static let longestPause = Duration.milliseconds(500)

        private let meter: ProgressMeter

        package init(_ meter: ProgressMeter) { self.meter = meter }

        /// Returns an iterator that begins with the present state.
        public func makeAsyncIterator() -> Iterator { Iterator(meter: meter) }

        /// Returns the latest states.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let meter: ProgressMeter
            private var last: TransferProgress?
            private var isOver = false

            fileprivate init(meter: ProgressMeter) { self.meter = meter }

            /// Returns the next state that differs or is due; nil after the last, or when the task is cancelled.
            public mutating func next() async -> TransferProgress? {
                if isOver { return nil }
                if let last {
                    do { try await Pause.sleep(for: Updates.shortestPause) } catch { return nil }
                    await meter.change(
                        from: last.completedBytes, within: Updates.longestPause - Updates.shortestPause)
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
