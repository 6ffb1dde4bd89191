import Multipeer

/// Standard input as something to send: nobody knows how much there will be.
final class InputSource: PieceSource {
    private static let piece = 262_016
    private let worker = Worker("input")

    var size: UInt64? { nil }

    func next() async throws(ResourceFault) -> [UInt8]? {
        do throws(Complaint) {
            return try await worker.run { () throws(Complaint) in try Stream.input.read(InputSource.piece) }
        } catch {
            throw .fetch(error.text)
        }
    }

    /// Nothing can stop a read that waits, and nobody waits for this one: the process is about to end.
    func cancel() {}
}
