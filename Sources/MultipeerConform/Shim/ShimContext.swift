import Multipeer

/// One session of a shim, and what everything that belongs to it works with: the pipe, the lanes, and the tasks that go on
/// until it is left.
@ShimActor
final class ShimContext {
    let options: ShimOptions
    let session: Session
    let pipe: ShimPipe
    let lanes: ShimQueues
    private var tasks: [Task<Void, Never>] = []

    init(_ options: ShimOptions, _ pipe: ShimPipe, _ lanes: ShimQueues) throws(ShimFault) {
        (self.options, self.pipe, self.lanes) = (options, pipe, lanes)
        do throws(MultipeerError) {
            session = try Session(peer: options.peer, configuration: options.configuration)
        } catch {
            throw .failed(ShimReason(error))
        }
    }

    /// What requests and events call the session.
    var name: String { options.peer.displayName }

    /// Goes on until the session is left.
    func keep(_ task: Task<Void, Never>) { tasks.append(task) }

    func cancelTasks() {
        for task in tasks { task.cancel() }
    }
}
