/// What waits for file systems, on a thread of the file pool: one piece of work at a time, in the order in which they were added.
///
/// For the work that one peer causes: it does not delay the thread that adds it, on which the events of all peers are read, and takes
/// one thread of the pool at most.
package final class FileWork: Sendable {
    private let last = Locked<Task<Void, Never>?>(nil)

    package init() {}

    /// Adds work, and returns at once. The caller bounds how much waits.
    package func add(_ body: @escaping @Sendable () -> Void) {
        let executor = FileWork.executor
        last.withLock { last in
            let previous = last
            last = Task(executorPreference: executor) {
                await previous?.value
                body()
            }
        }
    }

    /// Waits until all that was added by now is done.
    package func waitUntilDone() async { await last.withLock { $0 }?.value }

    /// Without a thread for files, those of all tasks do it.
    private static var executor: (any TaskExecutor)? {
        do throws(SocketFault) { return try EventLoop.nextFileLoop().taskExecutor } catch { return nil }
    }
}
