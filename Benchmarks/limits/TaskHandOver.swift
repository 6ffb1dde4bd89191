// SPDX-License-Identifier: Apache-2.0
//
// What it costs to hand small files from task to task instead of from thread to thread, with nothing done in between. A file goes from
// the application to a thread for files, to that of the socket, and back; at the other end from the socket to the application,
// to a thread for files, and from there to socket and application; and then back to the sender, whose application goes on.
// "Threads" are six that sleep until there is work for them; with "tasks" the two applications are tasks of the global executor,
// which await each step, and the receiving one begins a task for each file. The processor time is that of all threads.
import Dispatch
import Glibc
import Synchronization

/// A thread that runs what is posted to it, and sleeps while there is nothing.
final class Worker: TaskExecutor {
    enum Work {
        case call(@Sendable () -> Void)
        case job(UnownedJob)
    }

    private let state = Mutex<[Work]>([])
    private let wakeup = DispatchSemaphore(value: 0)

    init() {
        // A dispatch queue of its own, whose one block never ends, is a thread.
        DispatchQueue(label: "worker").async {
            while true {
                self.wakeup.wait()
                let work = self.state.withLock { state in
                    defer { state = [] }
                    return state
                }
                for item in work {
                    switch item {
                    case .call(let body): body()
                    case .job(let job): job.runSynchronously(on: self.asUnownedTaskExecutor())
                    }
                }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    func post(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

    private func add(_ work: Work) {
        let isFirst = state.withLock { state in
            state.append(work)
            return state.count == 1
        }
        if isFirst { wakeup.signal() }
    }
}

/// Both ends, without their applications.
struct Ends {
    let files = Worker(), socket = Worker()
    let receiversFiles = Worker(), receiversSocket = Worker()
}

/// Sends a number of files as a chain of calls.
struct Chain: Sendable {
    let ends: Ends
    let sender: Worker, receiver: Worker
    let isOver: DispatchSemaphore

    func send(_ left: Int) {
        if left == 0 { return _ = isOver.signal() }
        ends.files.post {
            ends.socket.post {
                sender.post {}
                ends.receiversSocket.post { receiver.post { receive(left) } }
            }
        }
    }

    private func receive(_ left: Int) {
        ends.receiversFiles.post {
            ends.receiversSocket.post { ends.socket.post { sender.post { send(left - 1) } } }
            receiver.post {}
        }
    }
}

/// A value that one task awaits.
final class Arrival: Sendable {
    private enum State {
        case open
        case awaited(UnsafeContinuation<Void, Never>)
        case arrived
    }

    private let state = Mutex(State.open)

    func send() {
        let before = state.withLock { state in
            defer { state = .arrived }
            return state
        }
        if case .awaited(let continuation) = before { continuation.resume() }
    }

    func wait() async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let hasArrived = state.withLock { state in
                    if case .arrived = state { return true }
                    state = .awaited(continuation)
                    return false
                }
                if hasArrived { continuation.resume() }
            }
        } onCancel: {
            send()
        }
    }
}

@main
enum TaskHandOver {
    private static let count = 9_600

    static func main() async {
        for lanes in [1, 16] {
            let how = lanes == 1 ? "in turn" : "\(lanes) at once"
            await report("\(how), threads") { withThreads(lanes) }
            await report("\(how), tasks") { await withTasks(lanes) }
        }
    }

    private static func withThreads(_ lanes: Int) {
        let isOver = DispatchSemaphore(value: 0)
        let chain = Chain(ends: Ends(), sender: Worker(), receiver: Worker(), isOver: isOver)
        for _ in 0..<lanes { chain.sender.post { chain.send(count / lanes) } }
        for _ in 0..<lanes { isOver.wait() }
    }

    private static func withTasks(_ lanes: Int) async {
        let ends = Ends()
        let (offers, offering) = AsyncStream.makeStream(of: Arrival.self)
        async let received: Void = receive(offers, ends)
        await withTaskGroup { group in
            for _ in 0..<lanes {
                group.addTask { for _ in 0..<(count / lanes) { await send(ends, offering) } }
            }
        }
        offering.finish()
        await received
    }

    private static func send(_ ends: Ends, _ offering: AsyncStream<Arrival>.Continuation) async {
        let (begun, arrived) = (Arrival(), Arrival())
        Task(executorPreference: ends.files) {
            ends.socket.post {
                begun.send()
                ends.receiversSocket.post { offering.yield(arrived) }
            }
        }
        await begun.wait()
        await arrived.wait()
    }

    private static func receive(_ offers: AsyncStream<Arrival>, _ ends: Ends) async {
        await withDiscardingTaskGroup { group in
            for await arrived in offers {
                group.addTask {
                    let storing = Task(executorPreference: ends.receiversFiles) {
                        ends.receiversSocket.post { ends.socket.post { arrived.send() } }
                    }
                    await withTaskCancellationHandler {
                        await storing.value
                    } onCancel: {
                        storing.cancel()
                    }
                }
            }
        }
    }

    private static func report(_ what: String, _ body: @escaping @Sendable () async -> Void) async {
        let start = processorTime()
        // Detached: the main thread wakes more slowly.
        await Task.detached { await body() }.value
        let micros = (processorTime() - start) / Double(count)
        print("{\"what\": \"\(what)\", \"value\": \(micros), \"unit\": \"us\"}")
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
