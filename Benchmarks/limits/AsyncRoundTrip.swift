// SPDX-License-Identifier: Apache-2.0
//
// The limit of a round trip through an asynchronous call: as in Wakeup.c, two processes pass one byte back and forth, but at
// each end a Swift task awaits it, on the thread that waits in poll(2). "Message" also makes an array of 64 bytes for each
// byte. "Ordinary task" awaits it on the global executor: each end has a hop to another thread, and a byte in a pipe to come
// back. Nothing is encrypted, framed or queued. On two cores the processes are not pinned.
//
//   AsyncRoundTrip ROUNDS

import Glibc
import Synchronization

/// A thread that waits in `poll` for one socket, and runs the jobs of tasks.
final class Loop: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var waiting: CheckedContinuation<UInt8, Never>?
        /// A byte that came before the task waited.
        var early: UInt8?
        var output: UInt8?
        var isOver = false
    }

    private let state = Mutex(State())
    private let socket: Int32
    private let bell: [Int32]
    private let thread = Atomic<UInt>(0)

    init(_ socket: Int32) {
        self.socket = socket
        var bell: [Int32] = [0, 0]
        guard pipe(&bell) == 0 else { exit(1) }
        self.bell = bell
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        ringUnlessHere()
    }

    /// Writes a byte, if there is one, and waits for the next.
    func exchange(_ byte: UInt8?) async -> UInt8 {
        await withCheckedContinuation { continuation in
            let early = state.withLock { state in
                state.output = byte
                let early = state.early.take()
                if early == nil { state.waiting = continuation }
                return early
            }
            if byte != nil { ringUnlessHere() }
            if let early { continuation.resume(returning: early) }
        }
    }

    /// Writes the last byte, if there is one, and ends `run`.
    func end(_ byte: UInt8?) {
        state.withLock { ($0.output, $0.isOver) = (byte, true) }
        ringUnlessHere()
    }

    private func ringUnlessHere() {
        var byte: UInt8 = 1
        if thread.load(ordering: .relaxed) != pthread_self(), Glibc.write(bell[1], &byte, 1) != 1 { exit(1) }
    }

    func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        repeat {
            work()
            if state.withLock({ $0.isOver }) { return }
            var waits = [
                pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: bell[0], events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waits, 2, -1) > 0 else { exit(1) }
            if waits[1].revents != 0 { unring() }
            if waits[0].revents != 0 { receive() }
        } while true
    }

    private func work() {
        while true {
            let (jobs, output) = state.withLock { state in
                defer { (state.jobs, state.output) = ([], nil) }
                return (state.jobs, state.output)
            }
            if jobs.isEmpty && output == nil { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if var output, Glibc.write(socket, &output, 1) != 1 { exit(1) }
        }
    }

    private func receive() {
        var byte: UInt8 = 0
        guard Glibc.read(socket, &byte, 1) == 1 else { exit(1) }
        let waiting = state.withLock { state in
            if state.waiting == nil { state.early = byte }
            return state.waiting.take()
        }
        waiting?.resume(returning: byte)
    }

    private func unring() {
        var bytes = [UInt8](repeating: 0, count: 64)
        guard Glibc.read(bell[0], &bytes, bytes.count) > 0 else { exit(1) }
    }
}

/// What keeps the arrays, so that they are made.
final class Inbox: Sendable {
    private let newest = Mutex<[UInt8]>([])
    func keep(_ message: [UInt8]) { newest.withLock { $0 = message } }
}

enum Kind: String, CaseIterable {
    case loop = "round trip, await on the loop's thread"
    case message = "round trip, await on the loop's thread, message"
    case ordinary = "round trip, await in an ordinary task"

    func pass(_ rounds: Int, over socket: Int32, asks: Bool) -> [Int64] {
        let loop = Loop(socket)
        let times = Mutex<[Int64]>([])
        let body: @Sendable () async -> Void = {
            let inbox = Inbox()
            var own: [Int64] = []
            own.reserveCapacity(rounds)
            var byte: UInt8? = asks ? 0 : nil
            for _ in 0..<rounds {
                let start = nanoseconds()
                let next = await loop.exchange(byte)
                if self == .message { inbox.keep([UInt8](repeating: next, count: 64)) }
                own.append(nanoseconds() - start)
                byte = next
            }
            let all = own
            times.withLock { $0 = all }
            loop.end(asks ? nil : byte)
        }
        if self == .ordinary {
            Task.detached(operation: body)
        } else {
            Task(executorPreference: loop, operation: body)
        }
        loop.run()
        return times.withLock { $0 }.sorted()
    }
}

func nanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

@main
struct AsyncRoundTrip {
    static func main() {
        let arguments = CommandLine.arguments
        let rounds = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 10_000
        guard rounds > 0 else { exit(64) }
        alarm(60)
        if arguments.count > 3, let kind = Kind(rawValue: arguments[2]), let socket = Int32(arguments[3]) {
            _ = kind.pass(rounds, over: socket, asks: false)
            return
        }
        for kind in Kind.allCases {
            var ends: [Int32] = [0, 0]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { exit(1) }
            let child = start([arguments[0], "\(rounds)", kind.rawValue, "\(ends[1])"])
            let times = kind.pass(rounds, over: ends[0], asks: true)
            var status: Int32 = 0
            guard waitpid(child, &status, 0) == child, status == 0 else { exit(1) }
            print(
                "{\"what\": \"\(kind.rawValue)\", \"value\": \(Double(times[rounds / 2]) / 1000), \"unit\": \"us\"}"
            )
            for end in ends { close(end) }
        }
    }

    private static func start(_ arguments: [String]) -> pid_t {
        var child: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        guard posix_spawn(&child, "/proc/self/exe", nil, nil, &words, environ) == 0 else { exit(1) }
        for word in words { free(word) }
        return child
    }
}
