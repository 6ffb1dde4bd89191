import MultipeerCommandLine
import MultipeerEssentials

/// Standard input or a FIFO as a source to send, of unknown size.
final class DescriptorSource: PieceSource {
    private static let piece = 262_016
    /// Nil for standard input.
    private let path: String?
    private let opened = Locked<DescriptorStream?>(nil)
    private let worker = Worker("input")

    init(path: String? = nil) { self.path = path }

    deinit {
        if path != nil { opened.withLock { $0 }?.close() }
    }

    var size: UInt64? { nil }

    func next() async throws(ResourceFault) -> [UInt8]? {
        do throws(CommandError) {
            return try await worker.run { [self] () throws(CommandError) in
                try stream().read(DescriptorSource.piece)
            }
        } catch {
            throw .fetch(error.text)
        }
    }

    /// Opens a FIFO when it is read first: that waits until another process writes to it.
    private func stream() throws(CommandError) -> DescriptorStream {
        guard let path else { return .input }
        if let stream = opened.withLock({ $0 }) { return stream }
        let stream = try DescriptorStream(opening: path)
        opened.withLock { $0 = stream }
        return stream
    }

    /// Does nothing: a blocking read cannot be stopped, and the process is about to end.
    func cancel() {}
}
