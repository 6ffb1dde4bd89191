import Multipeer
import MultipeerCommandLine

/// Standard input as something to send: nobody knows how much there will be.
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

    /// Nothing can stop a read that waits, and nobody waits for this one: the process is about to end.
    func cancel() {}
}
