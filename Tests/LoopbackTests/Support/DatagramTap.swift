import Multipeer
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

/// A relay in the path of the datagrams of two sessions: it records what passes, and may tamper with it.
///
/// Each session offers a port of the tap instead of its own (`configuration.overrides.datagramPort = tap.port(of:)`). What comes
/// for one side is sent from the port that the other side offered, so that the source addresses are right.
actor DatagramTap: LoopClient {
    enum Side: Int, Hashable, Sendable, CaseIterable {
        case ann, bob
        var other: Side { self == .ann ? .bob : .ann }
    }

    /// Returns what is passed on instead of a packet for `to`.
    typealias Meddler = @Sendable (_ packet: [UInt8], _ to: Side) -> [[UInt8]]

    nonisolated let loop: EventLoop
    nonisolated let wakeup = Wakeup()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// The sessions' own ports, as soon as they are known.
    nonisolated private let targets = Targets()
    nonisolated private let numbers: [UInt16]
    private let ports: [Port]
    private let receiveBuffer = DatagramReceiveBuffer()
    private var meddler: Meddler
    private(set) var seen: [(packet: [UInt8], to: Side)] = []
    /// The sources of the packets for a side, if not the tap's own port.
    private var sources: [Side: Port] = [:]

    private final class Targets: Sendable {
        let ports = Locked<[Side: UInt16]>([:])
    }

    /// A socket of the test.
    final class Port: Sendable {
        private let socket: Locked<DatagramSocket>
        let descriptor: Int32
        let address: SocketAddress

        init(_ host: SocketAddress.Host = .loopbackV4) throws {
            let socket = try DatagramSocket.bound(to: SocketAddress(host, port: 0))
            let local = socket.localAddress
            address = try #require(local)
            descriptor = socket.descriptor
            self.socket = Locked(socket)
        }

        func send(_ packets: [[UInt8]], to address: SocketAddress) {
            socket.withLock { socket in
                var batch = DatagramBatch()
                for packet in packets { batch.append(packet.span) }
                _ = socket.send(&batch, to: address)
            }
        }

        /// Receives everything that waits.
        func receive(with receiveBuffer: DatagramReceiveBuffer = DatagramReceiveBuffer()) -> [[UInt8]] {
            socket.withLock { socket in
                var packets: [[UInt8]] = []
                while !socket.receive(
                    with: receiveBuffer, { bytes, _ in packets.append([UInt8](copying: bytes)) }
                )
                .isDrained {}
                return packets
            }
        }
    }

    init(_ host: SocketAddress.Host = .loopbackV4, _ meddler: @escaping Meddler = { packet, _ in [packet] })
        async throws
    {
        loop = try EventLoop.next()
        ports = [try Port(host), try Port(host)]
        numbers = ports.map(\.address.port)
        self.meddler = meddler
        try watch()
    }

    private func watch() throws {
        for side in Side.allCases {
            try loop.register(
                ports[side.rawValue].descriptor, for: self, token: side.rawValue, interest: .readable)
        }
    }

    /// For `SessionOverrides.datagramPort`.
    nonisolated func port(of side: Side) -> @Sendable (UInt16) -> UInt16 {
        { [targets, numbers] port in
            targets.ports.withLock { $0[side] = port }
            return numbers[side.rawValue]
        }
    }

    /// Returns the address at which a session receives; nil before it has a link.
    nonisolated func target(_ side: Side) -> SocketAddress? {
        targets.ports.withLock { $0[side] }.map { ports[0].address.with(port: $0) }
    }

    func meddle(_ meddler: @escaping Meddler) { self.meddler = meddler }

    /// Sends what is for that side from that port from now on.
    func moveSource(of side: Side, to port: Port) { sources[side] = port }

    func stop() { for port in ports { loop.deregister(port.descriptor) } }

    nonisolated func ready(_ token: Int, _ readiness: Readiness) { assumeIsolated { $0.relay(token) } }
    nonisolated func deadlineReached() {}
    nonisolated func wokenUp() {}
    nonisolated func turnEnded() {}

    private func relay(_ token: Int) {
        guard let side = Side(rawValue: token) else { return }
        for packet in ports[token].receive(with: receiveBuffer) {
            seen.append((packet, side))
            guard let target = target(side) else { continue }
            let source = sources[side] ?? ports[side.other.rawValue]
            source.send(meddler(packet, side), to: target)
        }
    }
}

extension Session.Configuration {
    /// Returns the configuration with datagrams through the tap, and with short retries.
    ///
    /// `pings`: their interval. When nothing comes for a while after one, the path is down. A loop that is held up for that long on
    /// a busy machine takes it down, too: a test that needs it to stay up uses the pings of ordinary sessions.
    func tapped(
        by tap: DatagramTap, as side: DatagramTap.Side, pings: Duration = .milliseconds(100)
    ) -> Session.Configuration {
        with {
            $0.overrides.datagramPort = tap.port(of: side)
            $0.overrides.datagramTiming.handshakeTimeout = .seconds(2)
            $0.overrides.datagramTiming.rest = .milliseconds(200)
            $0.overrides.datagramTiming.restOnceUp = .milliseconds(200)
            $0.overrides.datagramTiming.pings = pings
        }
    }
}

extension Session {
    /// Waits until unreliable messages to the peer are sent over UDP, or are not.
    nonisolated func datagrams(areUp wanted: Bool = true, to peer: PeerID) async throws {
        try await datagrams(to: peer) { $0.isUp == wanted }
    }

    /// Waits until the facts match.
    nonisolated func datagrams(
        to peer: PeerID, are condition: @escaping @Sendable (ConnectionInfo.Datagrams) -> Bool
    ) async throws {
        try await within {
            while true {
                if let facts = await self.connectionInfo(for: peer), condition(facts.datagrams) { return }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }
}

extension Session.Events {
    /// Returns that many messages as they came.
    func arrivals(_ count: Int) async -> [Session.Message] {
        var messages: [Session.Message] = []
        for await event in self {
            guard case .message(let message) = event else { continue }
            messages.append(message)
            if messages.count == count { break }
        }
        return messages
    }
    /// Returns that many messages that end in this byte and match, and skips all others.
    func arrivals(
        _ count: Int, mark: UInt8, where matches: (Session.Message) -> Bool = { _ in true }
    ) async -> [Session.Message] {
        var messages: [Session.Message] = []
        for await event in self {
            guard case .message(let message) = event, message.bytes.last == mark, matches(message) else {
                continue
            }
            messages.append(message)
            if messages.count == count { break }
        }
        return messages
    }
}
