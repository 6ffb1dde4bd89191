import Multipeer
import MultipeerCommandLine

/// Standard input as a source to send, of unknown size.
final class StandardInputSource: PieceSource {
    private static let piece = 262_016
    private let worker = Worker("input")

    var size: UInt64? { nil }

    func next() async throws(ResourceFault) -> [UInt8]? {
        do throws(CommandError) {
            return try await worker.run { () throws(CommandError) in
                try DescriptorStream.input.read(StandardInputSource.piece)
            }
        } catch {
            throw .fetch(error.text)
        }
    }

    /// Does nothing: a blocking read cannot be stopped, and the process is about to end.
    func cancel() {}
}
