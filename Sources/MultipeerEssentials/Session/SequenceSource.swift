import MultipeerTransport

/// The bytes of an asynchronous sequence, as the source of a file.
actor SequenceSource<Base: AsyncSequence>: PieceSource where Base.Element: Sequence<UInt8> {
    nonisolated let size: UInt64?
    /// Nil while it is in use, and after the last element.
    private var iterator: Base.AsyncIterator?
    private var count: UInt64 = 0

    init(_ base: sending Base, size: UInt64?) {
        self.size = size
        iterator = base.makeAsyncIterator()
    }

    func next() async throws(ResourceFault) -> [UInt8]? {
        while let element = try await element() {
            let piece = [UInt8](element)
            if piece.isEmpty { continue }
            count += UInt64(piece.count)
            if let size, count > size {
                throw .source("the source has more than the announced \(size) bytes")
            }
            return piece
        }
        if let size, count < size { throw .source("the source ended after \(count) of \(size) bytes") }
        return nil
    }

    /// Does nothing: the iterator can only be ended by the task that waits for it, which is cancelled.
    nonisolated func cancel() {}

    private func element() async throws(ResourceFault) -> Base.Element? {
        guard var current = iterator else { return nil }
        iterator = nil
        do {
            guard let element = try await current.next(isolation: self) else { return nil }
            iterator = current
            return element
        } catch {
            throw .source("the source of the file failed: \(error)")
        }
    }
}
