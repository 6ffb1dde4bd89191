// SPDX-License-Identifier: Apache-2.0
//
// The limit of a round trip between two delegates: a thread that waits for its socket, as every library that serves several
// sockets has, calls a delegate on a dispatch queue, which writes the answer. Compared with a thread that answers by itself; no
// frames, no TLS, no objects. Each side has a thread and a queue of its own, in one process.
import Dispatch
import Foundation
import Glibc

/// One end of a socket pair, and what answers each byte.
final class End: Sendable {
    enum Answer: CaseIterable {
        /// The thread that read the byte.
        case thread
        /// A delegate on a queue, which writes to the socket.
        case queue
        /// A delegate on a queue, which asks the thread to write: only the thread knows what may be written.
        case queueAndThread
    }

    private let socket: Int32
    /// A pipe, from the delegate to the thread.
    private let requests: [Int32]
    private let answer: Answer
    private let delegates = DispatchQueue(label: "delegate")
    private let onByte: @Sendable () -> Bool

    /// `onByte` returns whether the byte is answered; it is called where the answer is made.
    init(_ socket: Int32, _ answer: Answer, _ onByte: @escaping @Sendable () -> Bool) {
        (self.socket, self.answer, self.onByte) = (socket, answer, onByte)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { exit(1) }
        requests = ends
    }

    func put() {
        var byte: UInt8 = 1
        _ = write(socket, &byte, 1)
    }

    func run() {
        var watched = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: requests[0], events: Int16(POLLIN), revents: 0),
        ]
        while poll(&watched, 2, -1) > 0 {
            if watched[1].revents != 0 {
                var byte: UInt8 = 0
                _ = read(requests[0], &byte, 1)
                put()
            }
            guard watched[0].revents != 0 else { continue }
            var byte: UInt8 = 0
            guard read(socket, &byte, 1) == 1 else { return }
            switch answer {
            case .thread: if onByte() { put() }
            case .queue: delegates.async { [self] in if onByte() { put() } }
            case .queueAndThread:
                delegates.async { [self] in
                    guard onByte() else { return }
                    var byte: UInt8 = 1
                    _ = write(requests[1], &byte, 1)
                }
            }
        }
    }
}

/// The rounds that are left; only the first end counts, one byte at a time.
final class Rounds: @unchecked Sendable {
    var left = 20_000
    let done = DispatchSemaphore(value: 0)

    func next() -> Bool {
        left -= 1
        if left == 0 { done.signal() }
        return left > 0
    }
}

@main
enum DelegateRoundTrip {
    static func main() {
        for answer in End.Answer.allCases {
            var sockets: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0 else { exit(1) }
            let rounds = Rounds()
            let total = Double(rounds.left)
            let first = End(sockets[0], answer) { rounds.next() }
            let second = End(sockets[1], answer) { true }
            for end in [first, second] { Thread.detachNewThread { end.run() } }
            let clock = SuspendingClock()
            let start = clock.now
            first.put()
            rounds.done.wait()
            let (seconds, attoseconds) = (clock.now - start).components
            let micros = (Double(seconds) + Double(attoseconds) / 1e18) / total * 1e6
            let what =
                switch answer {
                case .thread: "answered by the thread that read"
                case .queue: "answered by a delegate on a queue"
                case .queueAndThread: "answered by a delegate on a queue, through the thread"
                }
            print("{\"what\": \"\(what)\", \"value\": \(micros), \"unit\": \"us\"}")
        }
    }
}
