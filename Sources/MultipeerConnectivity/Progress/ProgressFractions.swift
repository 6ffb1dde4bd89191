public import Foundation

extension Progress {
    /// The completed fraction over time: for `for await`, where Apple's platforms have key-value observing. Not in Apple's
    /// framework.
    ///
    /// ```swift
    /// for await fraction in progress.fractions { bar.value = fraction }
    /// ```
    public var fractions: ProgressFractions { ProgressFractions(self) }
}

/// The `fractionCompleted` of a progress as an asynchronous sequence; not in Apple's framework.
///
/// It begins with the present state and continues with the latest whenever it has changed; states that a slow reader misses are
/// skipped. It ends after 1, when the progress is cancelled, when its transfer has failed, and when the reading task is
/// cancelled. Progresses of an `MCSession` report their changes, at most 20 times a second; any other, such as a parent of these,
/// is polled as often. Any number of tasks may watch, each with its own iterator.
public struct ProgressFractions: AsyncSequence, Sendable {
    /// From 0 to 1.
    public typealias Element = Double
    /// The sequence never fails.
    public typealias Failure = Never

    private static let pause = Duration.milliseconds(50)

    private let progress: Progress

    init(_ progress: Progress) { self.progress = progress }

    /// Returns an iterator that begins with the present state.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: progress) }

    /// Returns the latest fraction.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let progress: Progress
        private var last: Double?
        private var version = 0
        private var isOver = false

        fileprivate init(progress: Progress) { self.progress = progress }

        /// Returns the next fraction that differs from the one before; nil after the last.
        public mutating func next() async -> Double? {
            while !isOver, !Task.isCancelled {
                isOver =
                    progress.isFinished || progress.isCancelled || (progress as? PeerProgress)?.isOver == true
                let fraction = progress.fractionCompleted
                if fraction != last {
                    last = fraction
                    return fraction
                }
                if !isOver { await wait() }
            }
            return nil
        }

        private mutating func wait() async {
            if let progress = progress as? PeerProgress {
                version = await progress.change(since: version)
            } else {
                do { try await Task.sleep(for: ProgressFractions.pause) } catch { isOver = true }
            }
        }
    }
}
