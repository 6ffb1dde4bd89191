import Glibc
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("Sockets", .inTurns)
struct SocketTests {
    @Test(
        "bytes sent through loopback come back",
        arguments: [SocketAddress.Host.loopbackV4, .loopbackV6])
    func echo(_ host: SocketAddress.Host) async throws {
        try await withConnection(on: host) { client, server, probe in
            let (clientHere, clientThere) = (client.localAddress, server.remoteAddress)
            #expect(clientHere == clientThere)
            #expect(clientHere?.host == host)

            let question = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
            var atServer = ByteBuffer()
            var atClient = ByteBuffer()
            var (asked, answered) = (0, 0)
            while atClient.count < question.count {
                let isDone = asked == question.count
                if !isDone, case .sent(let count) = client.send(question.span.extracting(asked...)) {
                    asked += count
                }
                if case .wouldBlock = server.receive(into: &atServer, upTo: 65_536), isDone {
                    _ = try await probe.wait(client.descriptor, for: .readable)
                }
                let sent = atServer.read { bytes in
                    bytes.isEmpty ? .sent(0) : server.send(bytes.extracting(answered...))
                }
                if case .sent(let count) = sent { answered += count }
                _ = client.receive(into: &atClient, upTo: 65_536)
            }
            #expect(atClient.takeAll() == question)
        }
    }

    @Test("a probe says whether one of the addresses accepts, or else whether one refuses [mdns.missed]")
    func reachability() async throws {
        let listener = try Socket.listening(on: .loopback)
        let own = listener.localAddress
        let open = try #require(own)
        let refusing = SocketAddress(.loopbackV4, port: try ReservedPort.next())
        let cases: [([SocketAddress], ReachabilityProbe.Outcome)] = [
            ([open], .reached), ([refusing], .refused), ([refusing, open], .reached), ([], .silent),
        ]
        for (addresses, expected) in cases {
            let outcome = try await ReachabilityProbe.outcome(at: addresses, within: .seconds(20), on: nil)
            #expect(outcome == expected, "\(addresses)")
        }
        let after = listener.localAddress
        #expect(after == open, "it was open until here")
    }

    @Test("the end of the peer's data is seen, and the other direction stays open")
    func halfClose() async throws {
        try await withConnection(on: .loopbackV4) { client, server, probe in
            client.shutdownWriting()
            _ = try await probe.wait(server.descriptor, for: .readable)
            var buffer = ByteBuffer()
            let atServer = server.receive(into: &buffer, upTo: 10)
            #expect(atServer == .endOfStream)
            let sent = server.send([1, 2, 3].span)
            #expect(sent == .sent(3))
            _ = try await probe.wait(client.descriptor, for: .readable)
            let atClient = client.receive(into: &buffer, upTo: 2)
            #expect(atClient == .bytes(2))
        }
    }

    @Test("a peer that is gone is a reset, and no signal ends the process")
    func reset() async throws {
        try await withConnection(on: .loopbackV4) { client, server, probe in
            _ = server.send([1].span)
            let descriptor = client.descriptor
            // Closes with a byte unread, which is a reset to the other side.
            dup2(0, descriptor)
            _ = try await probe.wait(server.descriptor, for: .readable)
            var buffer = ByteBuffer()
            let received = server.receive(into: &buffer, upTo: 10)
            #expect(received == .failed(.reset))
            let sent = server.send([1].span)
            #expect(sent == .failed(.reset))
        }
    }

    @Test("a closed port refuses a connection", arguments: [SocketAddress.Host.loopbackV4, .loopbackV6])
    func refused(_ host: SocketAddress.Host) async throws {
        try await withConnection(on: host) { client, _, probe in
            // A port that is taken, so that no other process can listen on it meanwhile.
            let quiet = client.localAddress
            let refused = try Socket.connecting(to: try #require(quiet))
            let readiness = try await probe.wait(refused.descriptor, for: .writable)
            #expect(readiness.contains(.failed))
            let result = refused.connectionResult()
            #expect(result == .refused)
        }
    }

    @Test("an address that is in use, foreign, or not permitted is distinguished")
    func binding() throws {
        let listener = try Socket.listening(on: SocketAddress(.loopbackV4, port: 0))
        let taken = listener.localAddress
        #expect(throws: SocketFault.addressInUse) { _ = try Socket.listening(on: try #require(taken)) }
        #expect(throws: SocketFault.addressUnavailable) {
            _ = try Socket.listening(on: SocketAddress(.v4(0xc000_0201), port: 0))
        }
        var buffer = ByteBuffer()
        let received = listener.receive(into: &buffer, upTo: 1)
        #expect(received == .failed(.other(ENOTCONN)))
    }

    @Test("a listener without a connection to accept says so")
    func nothingToAccept() throws {
        let listener = try Socket.listening(on: SocketAddress(.loopbackV6, port: 0))
        let isEmpty =
            switch listener.accept() {
            case .wouldBlock: true
            default: false
            }
        #expect(isEmpty)
    }

    @Test("without free descriptors accepting is exhausted, and continues once there are some")
    func exhaustion() async throws {
        await #expect(processExitsWith: .success) {
            let listener = try Socket.listening(on: SocketAddress(.loopbackV4, port: 0))
            let address = listener.localAddress
            let there = try #require(address)
            let client = try Socket.connecting(to: there)
            var limit = rlimit(rlim_cur: rlim_t(client.descriptor) + 1, rlim_max: 64)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard case .exhausted = listener.accept() else { exit(1) }
            #expect(throws: SocketFault.tooManyFiles) { _ = try Socket.connecting(to: there) }
            limit.rlim_cur = 64
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard case .socket = listener.accept() else { exit(2) }
            exit(0)
        }
    }

    @Test(
        "accepting leaves four descriptors to the rest of the process, and the connection waits",
        arguments: [4, 5])
    func reserve(free: Int) async throws {
        await #expect(processExitsWith: .success) { [free] in
            let listener = try Socket.listening(on: SocketAddress(.loopbackV4, port: 0))
            let address = listener.localAddress
            let client = try Socket.connecting(to: try #require(address))
            let next = try SocketTests.lowestFreeDescriptor(listener)
            var limit = rlimit(rlim_cur: rlim_t(Int(next) + free), rlim_max: 1_024)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            switch listener.accept() {
            case .socket: exit(free == 5 ? 0 : 1)
            case .exhausted where free == 4: break
            default: exit(1)
            }
            limit.rlim_cur = 1_024
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard case .socket(_, let from) = listener.accept(), from == client.localAddress else { exit(2) }
            exit(0)
        }
    }

    private static func lowestFreeDescriptor(_ socket: borrowing Socket) throws -> Int32 {
        let copy = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
        try #require(copy >= 0 && close(copy) == 0)
        return copy
    }

    private func withConnection(
        on host: SocketAddress.Host,
        _ body: (borrowing Socket, borrowing Socket, Probe) async throws -> Void
    ) async throws {
        try await withLoop { loop in
            let probe = Probe(loop)
            let listener = try Socket.listening(on: SocketAddress(host, port: 0))
            let there = listener.localAddress
            let client = try Socket.connecting(to: try #require(there))
            _ = try await probe.wait(listener.descriptor, for: .readable)
            guard case .socket(let server, let from) = listener.accept() else {
                Issue.record("nothing was accepted")
                return
            }
            _ = try await probe.wait(client.descriptor, for: .writable)
            let (result, here) = (client.connectionResult(), client.localAddress)
            #expect(result == nil)
            #expect(here == from)
            try await body(client, server, probe)
        }
    }
}
