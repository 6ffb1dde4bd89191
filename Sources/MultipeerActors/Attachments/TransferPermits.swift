import Multipeer
import MultipeerTransport

/// How many streams and files to a peer are under way over one link: so many at a time. The others wait in their order,
/// and are given up with the link. A file is opened only with a permit.
struct TransferPermits: Sendable {
    typealias Semaphore = AsyncSemaphore<ActorCallError>
    typealias Turn = Semaphore.Turn

    let peer: PeerID
    private let semaphore: Semaphore

    init(to peer: PeerID, _ count: Int, waitingAtMost: Int) {
        self.peer = peer
        semaphore = AsyncSemaphore(count, waitersAtMost: waitingAtMost)
    }

    /// Asks for a permit. Returns nil with it, and otherwise the place in the queue.
    func request() throws(ActorCallError) -> Turn? {
        switch semaphore.request() {
        case .acquired: return nil
        case .waits(let turn): return turn
        case .refused(let refusal): throw error(refusal)
        }
    }

    /// Waits for a permit. Throws why there is none, which may be that the task is cancelled first.
    func wait(for turn: Turn) async throws(ActorCallError) {
        do throws(Semaphore.Refusal) { try await semaphore.wait(for: turn) } catch { throw self.error(error) }
    }

    func release() { semaphore.release() }

    /// The link has ended: nothing begins any more, over a later link least of all.
    func close(_ error: ActorCallError) { semaphore.close(error) }

    /// Why nothing begins any more; nil while the link is there.
    var closure: ActorCallError? { semaphore.closure }

    static let givenUp = ActorCallError(.cancelled, "the call that the stream belongs to was given up")

    private func error(_ refusal: Semaphore.Refusal) -> ActorCallError {
        switch refusal {
        case .closed(let error): error
        case .tooManyWait(let count):
            ActorCallError(.busy, "\(count) streams and files to \(peer) wait already")
        case .cancelled: TransferPermits.givenUp
        }
    }
}
