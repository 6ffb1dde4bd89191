/// Runs tasks on a loop's thread. A separate object: one that is both kinds of executor costs seven hops a message.
package final class LoopTaskExecutor: TaskExecutor, Sendable {
    private let queue: LoopQueue

    init(_ queue: LoopQueue) { self.queue = queue }

    package func enqueue(_ job: consuming ExecutorJob) { queue.submit(.task(UnownedJob(job))) }
}
