import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("A socket of a simulated machine", .inTurns)
struct VirtualSocketTests {
    @Test("a dial to a closed port is refused; one to a missing machine fails at once")
    func refused() async throws {
        try await run { machines in
            let dialled = try machines.ann.loop.connect(to: SocketAddress(machines.bob.address, port: 7))
            try await machines.pause()
            #expect(dialled.connectionResult() == .refused)
            #expect(throws: SocketFault.unreachable) {
                _ = try machines.ann.loop.connect(to: SocketAddress(.v4(0x0a00_00ff), port: 7))
            }
        }
    }

    @Test("a dial across a cut is retried until the cut is healed, and fails in the end")
    func cut() async throws {
        try await run { machines in
            let listener = try machines.bob.loop.listen(on: SocketAddress(.anyV4, port: 0), backlog: 8)
            let place = SocketAddress(machines.bob.address, port: listener.localAddress?.port ?? 0)
            machines.network.partition([machines.ann], [machines.bob])
            let dialled = try machines.ann.loop.connect(to: place)
            try await machines.pause(.seconds(10))
            #expect(dialled.connectionResult() == .unreachable)
            machines.network.heal()
            try await machines.pause(.seconds(10))
            #expect(dialled.connectionResult() == nil)
            machines.network.partition([machines.ann], [machines.bob])
            let other = try machines.ann.loop.connect(to: place)
            try await machines.pause(.seconds(200))
            #expect(other.connectionResult() == .timedOut)
        }
    }

    @Test("unread data has a limit, and reading makes room")
    func window() async throws {
        try await run { machines in
            let ends = try await machines.connection()
            let bytes = [UInt8](repeating: 7, count: 300_000)
            #expect(ends.here.send(bytes.span) == .sent(262_144))
            #expect(ends.here.send(bytes.span) == .wouldBlock)
            try await machines.pause()
            var buffer = ByteBuffer()
            #expect(ends.there.receive(into: &buffer, upTo: 100_000) == .bytes(100_000))
            #expect(ends.here.send(bytes.span) == .sent(100_000))
        }
    }

    @Test("the end of one side is read after its data; unread data turns it into a reset")
    func ends() async throws {
        try await run { machines in
            var buffer = ByteBuffer()
            let ends = try await machines.connection()
            #expect(ends.here.send([1, 2, 3].span) == .sent(3))
            ends.here.shutdownWriting()
            try await machines.pause()
            #expect(ends.there.receive(into: &buffer, upTo: 2) == .bytes(2))
            #expect(ends.there.receive(into: &buffer, upTo: 2) == .bytes(1))
            #expect(ends.there.receive(into: &buffer, upTo: 2) == .endOfStream)

            let others = try await machines.connection()
            #expect(others.here.send([1].span) == .sent(1))
            try await machines.pause()
            machines.drop(others.there)
            try await machines.pause()
            #expect(others.here.receive(into: &buffer, upTo: 2) == .failed(.reset))
        }
    }

    @Test("data waiting at a cut arrives in order after it, or fails after the owner's timeout")
    func stalled() async throws {
        try await run { machines in
            var buffer = ByteBuffer()
            let ends = try await machines.connection()
            machines.network.partition([machines.ann], [machines.bob])
            for byte in 1...3 as ClosedRange<UInt8> { #expect(ends.here.send([byte].span) == .sent(1)) }
            try await machines.pause(.seconds(5))
            #expect(ends.there.receive(into: &buffer, upTo: 9) == .wouldBlock)
            machines.network.heal()
            // Not at once: it was repeated last 0.2, 0.6, 1.4 and 3 s after it was sent, or each second.
            #expect(ends.there.receive(into: &buffer, upTo: 9) == .wouldBlock)
            try await machines.pause(.milliseconds(1_500))
            #expect(ends.there.receive(into: &buffer, upTo: 9) == .bytes(3))
            #expect(buffer.takeAll() == [1, 2, 3])

            ends.here.setUserTimeout(.seconds(10))
            machines.network.partition([machines.ann], [machines.bob])
            #expect(ends.here.send([4].span) == .sent(1))
            try await machines.pause(.seconds(11))
            #expect(ends.here.send([5].span) == .failed(.timedOut))
        }
    }

    /// Runs `body` in virtual time, with two machines.
    private func run(_ body: @escaping @Sendable (Machines) async throws -> Void) async throws {
        let machines = Machines(VirtualNetwork(seed: 1))
        defer { machines.network.dismantle() }
        let result = Locked<Result<Void, any Error>?>(nil)
        let limits = VirtualTime.Limits(duration: .seconds(3_600), steps: 100_000)
        let stopReason = try await machines.network.time.run(within: limits) {
            do {
                try await body(machines)
                result.withLock { $0 = .success(()) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        #expect(stopReason == nil)
        try result.withLock { $0 }?.get()
    }
}

/// Two machines, and what is between them.
private struct Machines: Sendable {
    let network: VirtualNetwork
    let ann: VirtualHost
    let bob: VirtualHost

    init(_ network: VirtualNetwork) {
        self.network = network
        (ann, bob) = (network.addHost("ann"), network.addHost("bob"))
    }

    func pause(_ duration: Duration = .milliseconds(20)) async throws {
        try await network.time.sleep(until: network.time.now + duration)
    }

    func drop(_ socket: consuming Socket) {}

    /// A connection from ann to bob.
    func connection() async throws -> Connection {
        let listener = try bob.loop.listen(on: SocketAddress(.anyV4, port: 0), backlog: 8)
        let port = try #require(listener.localAddress?.port)
        let here = try ann.loop.connect(to: SocketAddress(bob.address, port: port))
        try await pause()
        guard case .socket(let there, from: _) = listener.accept() else { throw SocketFault.refused }
        return Connection(here: here, there: there)
    }
}

/// Both ends.
private struct Connection: ~Copyable {
    let here: Socket
    let there: Socket
}
