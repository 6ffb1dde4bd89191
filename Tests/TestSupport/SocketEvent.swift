import Foundation
import MultipeerTransport

/// What a test waits for at a socket, without occupying a thread of the tasks: there are few of them, and all tests share them.
package enum SocketEvent: Int16, Sendable {
    case readable = 1  // POLLIN
    case writable = 4  // POLLOUT

    /// Waits on a thread of its own, at most this number of milliseconds, and throws ``Overdue`` afterwards.
    package func wait(for descriptor: Int32, milliseconds: Int32) async throws {
        let count = Promise<Int32>()
        let events = rawValue
        Thread {
            var watched = pollfd(fd: descriptor, events: events, revents: 0)
            count.send(unsafe poll(&watched, 1, milliseconds))
        }.start()
        // An interrupted call counts as ready: its caller tries again.
        if await count.value() == 0 { throw Overdue() }
    }
}
