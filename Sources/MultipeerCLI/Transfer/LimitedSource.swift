import MultipeerEssentials

/// A source whose bytes leave no faster than a limit that all files of a command share.
final class LimitedSource: PieceSource {
    /// The limit, and the time of its clock.
    final class Limit: Sendable {
        private let start = ContinuousClock.now
        private let state: Locked<RateLimit>
        let piece: Int

        init(_ limit: RateLimit) {
            piece = limit.piece
            state = Locked(limit)
        }

        /// Waits until that number of bytes may leave.
        func take(_ bytes: Int) async throws(ResourceFault) {
            let now = start.duration(to: .now)
            let delay = state.withLock { $0.take(bytes, at: now) }
            guard delay > .zero else { return }
            do { try await Task.sleep(for: delay) } catch { throw .cancelled }
        }
    }

    private let source: any PieceSource
    private let limit: Limit
    /// What was read and has not left.
    private let rest = Locked<ArraySlice<UInt8>>([])

    init(_ source: any PieceSource, _ limit: Limit) {
        self.source = source
        self.limit = limit
    }

    var size: UInt64? { source.size }
    var address: String? { source.address }

    func next() async throws(ResourceFault) -> [UInt8]? {
        if rest.withLock({ $0.isEmpty }) {
            guard let piece = try await source.next() else { return nil }
            rest.withLock { $0 = piece[...] }
        }
        let piece = rest.withLock { rest in
            defer { rest = rest.dropFirst(limit.piece) }
            return Array(rest.prefix(limit.piece))
        }
        try await limit.take(piece.count)
        return piece
    }

    func cancel() { source.cancel() }
}
