import Multipeer

/// One session of a shim, with what its parts share: the pipe, the lanes, and the tasks that run until the session is
/// closed.
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

    /// The name of the session in requests and events.
    var name: String { options.peer.displayName }

    /// Keeps a task that runs until the session is closed.
    func keep(_ task: Task<Void, Never>) { tasks.append(task) }

    func cancelTasks() {
        for task in tasks { task.cancel() }
    }
}
