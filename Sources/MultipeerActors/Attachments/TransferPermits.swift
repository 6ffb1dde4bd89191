import Multipeer
import MultipeerTransport

/// Limits how many streams and files to a peer are in progress over one link. The others wait in order, and are given
/// up with the link. A file is opened only with a permit.
struct TransferPermits: Sendable {
    typealias Semaphore = AsyncSemaphore<ActorCallError>
    typealias Turn = Semaphore.Turn

    let peer: PeerID
    private let semaphore: Semaphore

    init(to peer: PeerID, _ count: Int, waitingAtMost: Int) {
        self.peer = peer
        semaphore = AsyncSemaphore(count, waitersAtMost: waitingAtMost)
    }

    /// Requests a permit. Returns nil when it was granted, and otherwise the place in the queue.
    func request() throws(ActorCallError) -> Turn? {
        switch semaphore.request() {
        case .acquired: return nil
        case .waits(let turn): return turn
        case .refused(let refusal): throw error(refusal)
        }
    }

    /// Waits for a permit. Throws why there is none, for example that the task was cancelled.
    func wait(for turn: Turn) async throws(ActorCallError) {
        do throws(Semaphore.Refusal) { try await semaphore.wait(for: turn) } catch { throw self.error(error) }
    }

    func release() { semaphore.release() }

    /// Ends the permits with their link: nothing begins after that, not even over a later link.
    func close(_ error: ActorCallError) { semaphore.close(error) }

    /// Why no transfer can begin; nil while the link exists.
    var closure: ActorCallError? { semaphore.closure }

    static let givenUp = ActorCallError(.cancelled, "the call to which the stream belongs was given up")

    private func error(_ refusal: Semaphore.Refusal) -> ActorCallError {
        switch refusal {
        case .closed(let error): error
        case .tooManyWait(let count):
            ActorCallError(.busy, "\(count) streams and files to \(peer) are already waiting")
        case .cancelled: TransferPermits.givenUp
        }
    }
}
