import Glibc
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

/// What other systems than Linux use, and what the trait `PortableRuntime` chooses, is tested in every build.
@Suite("10 The portable runtime", .inTurns)
struct PortableRuntimeTests {
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

    private func events(_ poller: PollPoller) -> [UInt64: Readiness] {
        var found: [UInt64: Readiness] = [:]
        for index in 0..<poller.wait(milliseconds: 0) { found[poller[index].key] = poller[index].readiness }
        return found
    }

    @Test("a descriptor is reported with its key as long as it is watched and ready, and a hang-up always")
    func readiness() throws {
        let poller = try PollPoller()
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

    @Test("a descriptor is watched once, and one that is not open or not watched is refused")
    func refused() throws {
        let poller = try PollPoller()
        let ends = try Ends()
        try poller.add(ends.reading, .readable, key: 1)
        #expect(throws: SocketFault.other(EEXIST)) { try poller.add(ends.reading, .readable, key: 1) }
        #expect(throws: SocketFault.other(EBADF)) { try poller.add(1_000_000, .readable, key: 1) }
        #expect(throws: SocketFault.other(EBADF)) { try poller.add(-1, .readable, key: 1) }
        #expect(throws: SocketFault.other(ENOENT)) { try poller.change(ends.writing, .readable, key: 1) }
        #expect(throws: SocketFault.other(ENOENT)) { try poller.remove(ends.writing) }
    }

    @Test(
        "of many descriptors, in whatever order they come and go, exactly those that are watched are reported"
    )
    func many() throws {
        let poller = try PollPoller()
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

    @Test("wakes end a wait, once however many there are, and none is lost that comes after it")
    func wakes() throws {
        let poller = try PollPoller()
        let waker = try PipeWaker()
        defer { waker.close() }
        try poller.add(waker, key: .max)
        for _ in 0..<3 {
            for _ in 0..<70_000 { waker.wake() }
            #expect(poller.wait(milliseconds: -1) == 1)
            #expect(poller[0].key == .max)
            #expect(poller.wait(milliseconds: 0) == 0)
        }
    }

    @Test("sockets and pipes do not block, and no other program inherits them")
    func flags() throws {
        let socket = PortableCalls.socket(AF_INET, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_TCP))
        defer { close(socket) }
        let waker = try PipeWaker()
        defer { waker.close() }
        for descriptor in [socket, waker.descriptor] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
        }
        #expect(PortableCalls.socket(-1, -1, -1) == -1)
    }

    @Test("random bytes fill memory of any size")
    func randomness() {
        for count in [1, 255, 256, 257, 1_000] {
            var bytes = [UInt8](repeating: 0, count: count)
            for _ in 0..<8 where bytes.last == 0 {
                unsafe bytes.withUnsafeMutableBytes { unsafe PortableCalls.fill($0) }
            }
            #expect(bytes.last != 0)
            #expect(count < 255 || bytes.filter { $0 == 0 }.count < count / 8)
        }
    }

    @Test("the list of addresses has the same interfaces as the kernel's reports")
    func interfaces() throws {
        let (listed, reported) = (try AddressListMonitor().table.all, try NetlinkMonitor().table.all)
        #expect(listed.map(\.name) == reported.map(\.name))
        for (one, other) in zip(listed, reported) {
            #expect(one.index == other.index && one.mtu == other.mtu)
            #expect(one.isUp == other.isUp && one.isLoopback == other.isLoopback)
            #expect(one.isPointToPoint == other.isPointToPoint)
            #expect(one.carriesMulticast == other.carriesMulticast)
            let hosts = other.addresses.filter { !$0.isTentative }.map { "\($0.host)/\($0.prefix)" }
            #expect(Set(one.addresses.map { "\($0.host)/\($0.prefix)" }).isSuperset(of: hosts))
        }
    }

    @Test("a look that finds nothing new reports no change, and there is always a next one")
    func looks() throws {
        let monitor = try AddressListMonitor()
        let first = try #require(monitor.deadline)
        #expect(monitor.descriptor == nil)
        _ = monitor.read()
        #expect(!monitor.read())
        let next = try #require(monitor.deadline)
        #expect(next >= first && next - EventLoop.currentMoment() <= AddressListMonitor.interval)
    }
}
