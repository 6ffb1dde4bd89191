import Glibc
import MultipeerTransport
import TestSupport
import Testing

/// What a loop expects of its poller, whichever of the two was chosen.
@Suite("10 Pollers of both runtimes", .inTurns)
struct ReadinessPollerTests {
    enum Kind: CaseIterable { case epoll, poll }

    private final class Ends {
        let reading: Int32
        private(set) var writing: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0 else { throw Failure.pipe }
            (reading, writing) = (ends[0], ends[1])
        }

        deinit {
            close(reading)
            closeWriting()
        }

        func write() {
            var byte: UInt8 = 1
            _ = unsafe Glibc.write(writing, &byte, 1)
        }

        func closeWriting() {
            if writing >= 0 { close(writing) }
            writing = -1
        }
    }

    private enum Failure: Error { case pipe }

    private func events(_ poller: borrowing some ReadinessPoller & ~Copyable) -> [UInt64: Readiness] {
        var found: [UInt64: Readiness] = [:]
        for index in 0..<poller.wait(milliseconds: 0) { found[poller[index].key] = poller[index].readiness }
        return found
    }

    @Test(
        "a descriptor is reported with its key as long as it is watched and ready, and a hang-up always",
        arguments: Kind.allCases)
    func readiness(_ kind: Kind) throws {
        switch kind {
        case .epoll: try readiness(EpollPoller())
        case .poll: try readiness(PollPoller())
        }
    }

    private func readiness(_ poller: borrowing some ReadinessPoller & ~Copyable) throws {
        let (one, other) = (try Ends(), try Ends())
        try poller.add(one.reading, .readable, key: 7)
        try poller.add(other.reading, .readable, key: 8)
        try poller.add(other.writing, [], key: 9)
        #expect(events(poller).isEmpty)
        one.write()
        #expect(events(poller) == [7: .readable])
        try poller.change(other.writing, .writable, key: 10)
        other.write()
        #expect(events(poller) == [7: .readable, 8: .readable, 10: .writable])
        try poller.remove(one.reading)
        #expect(events(poller) == [8: .readable, 10: .writable])
        try poller.remove(other.writing)
        other.closeWriting()
        try poller.change(other.reading, [], key: 11)
        #expect(events(poller) == [11: .failed])
        try poller.change(other.reading, .readable, key: 12)
        #expect(events(poller) == [12: [.readable, .failed]])
        try poller.remove(other.reading)
        #expect(events(poller).isEmpty)
    }

    @Test(
        "a descriptor is watched once, and one that is not open or not watched is refused",
        arguments: Kind.allCases)
    func refused(_ kind: Kind) throws {
        switch kind {
        case .epoll: try refused(EpollPoller())
        case .poll: try refused(PollPoller())
        }
    }

    private func refused(_ poller: borrowing some ReadinessPoller & ~Copyable) throws {
        let ends = try Ends()
        try poller.add(ends.reading, .readable, key: 1)
        #expect(throws: SocketFault.other(EEXIST)) { try poller.add(ends.reading, .readable, key: 1) }
        #expect(throws: SocketFault.other(EBADF)) { try poller.add(1_000_000, .readable, key: 1) }
        #expect(throws: SocketFault.other(EBADF)) { try poller.add(-1, .readable, key: 1) }
        #expect(throws: SocketFault.other(ENOENT)) { try poller.change(ends.writing, .readable, key: 1) }
        #expect(throws: SocketFault.other(ENOENT)) { try poller.remove(ends.writing) }
    }

    @Test(
        "of many descriptors, in whatever order they come and go, exactly those that are watched are reported",
        arguments: Kind.allCases
    )
    func many(_ kind: Kind) throws {
        switch kind {
        case .epoll: try many(EpollPoller())
        case .poll: try many(PollPoller())
        }
    }

    private func many(_ poller: borrowing some ReadinessPoller & ~Copyable) throws {
        let ends = try (0..<40).map { _ in try Ends() }
        var random = Seeded(3)
        var watched: Set<UInt64> = []
        for end in ends { end.write() }
        for _ in 0..<500 {
            let number = Int.random(in: ends.indices, using: &random)
            let key = UInt64(number)
            if watched.remove(key) != nil {
                try poller.remove(ends[number].reading)
            } else {
                try poller.add(ends[number].reading, .readable, key: key)
                watched.insert(key)
            }
            #expect(Set(events(poller).keys) == watched)
        }
    }

    @Test(
        "wakes end a wait, once however many there are, and none is lost that comes after it",
        arguments: Kind.allCases)
    func wakes(_ kind: Kind) throws {
        switch kind {
        case .epoll: try wakes(EpollPoller())
        case .poll: try wakes(PollPoller())
        }
    }

    private func wakes<Poller: ReadinessPoller & ~Copyable>(_ poller: borrowing Poller) throws {
        let waker = try Poller.Waker()
        defer { waker.close() }
        try poller.add(waker, key: .max)
        for _ in 0..<3 {
            for _ in 0..<70_000 { waker.wake() }
            #expect(poller.wait(milliseconds: -1) == 1)
            #expect(poller[0].key == .max)
            #expect(poller.wait(milliseconds: 0) == 0)
        }
    }
}
