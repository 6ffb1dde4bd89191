import Multipeer
import MultipeerTransport

/// Where streams and files to a peer lie while they are under way over one link: so many at a time, the others wait in
/// their order, and are given up with the link. A file is open only from here on.
final class Berths: Sendable {
    /// Is sent nil with a berth, or why there will be none.
    typealias Turn = Promise<ActorCallError?>

    enum Reply {
        case taken
        case waits(Turn)
        case refused(ActorCallError)
    }

    private struct State {
        var taken = 0
        var waiting = OrderedTable<ObjectIdentifier, Turn>()
        var closure: ActorCallError?
    }

    let peer: PeerID
    private let count: Int
    private let waitingAtMost: Int
    private let state = Locked(State())

    init(to peer: PeerID, _ count: Int, waitingAtMost: Int) {
        self.peer = peer
        self.count = count
        self.waitingAtMost = waitingAtMost
    }

    /// Asks for one. While somebody waits, all are taken: nobody overtakes.
    func ask() -> Reply {
        state.withLock { state in
            if let closure = state.closure { return .refused(closure) }
            if state.taken < count {
                state.taken += 1
                return .taken
            }
            guard state.waiting.count < waitingAtMost else {
                let text = "\(state.waiting.count) streams and files to \(peer) wait already"
                return .refused(ActorCallError(.busy, text))
            }
            let turn = Turn()
            state.waiting.append(ObjectIdentifier(turn), turn)
            return .waits(turn)
        }
    }

    /// Waits for one; answers why there is none, which may be that the task is cancelled before.
    func wait(for turn: Turn) async -> ActorCallError? {
        let failure = await turn.value(onCancel: { turn.send(Berths.givenUp) })
        if failure != nil { state.withLock { state in _ = state.waiting.remove(ObjectIdentifier(turn)) } }
        return failure
    }

    /// The next one in turn has it then.
    func giveBack() {
        while true {
            let next = state.withLock { state -> Turn? in
                if let (_, turn) = state.waiting.removeFirst() { return turn }
                state.taken -= 1
                return nil
            }
            guard let next else { return }
            if next.send(nil) { return }
        }
    }

    /// The link has ended: nothing begins any more, over a later link least of all.
    func close(_ error: ActorCallError) {
        let waiting = state.withLock { state in
            if state.closure == nil { state.closure = error }
            return state.waiting.removeAll()
        }
        for turn in waiting { turn.send(error) }
    }

    /// Why nothing begins any more; nil while the link is there.
    var closure: ActorCallError? { state.withLock { $0.closure } }

    static let givenUp = ActorCallError(.cancelled, "the call that the stream belongs to was given up")
}
