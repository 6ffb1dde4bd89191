import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

/// A relay in the path of one session: it records what passes in both directions, and may tamper with it.
///
/// The session advertises the tap's address instead of its own (`configuration.overrides.advertising = tap.advertise`);
/// connections to it are passed on to the session, unless the meddler decides otherwise.
actor Tap: LoopClient {
    enum Side: Hashable, Sendable { case dialler, listener }

    /// Some bytes in transit.
    struct Chunk: Sendable {
        /// The number of the connection, from 0.
        let flow: Int
        let from: Side
        let bytes: [UInt8]
        /// The number of bytes that came from that side before.
        let offset: Int
    }

    enum Verdict: Sendable {
        case pass
        case replace([UInt8])
        /// Pass these one by one.
        case drip
        /// Keep these and all further bytes of the flow in both directions.
        case hold
        /// Send these back to where the chunk came from; nothing is passed on.
        case answer([UInt8])
        /// Pass these, then end both connections without a graceful close.
        case cut([UInt8])
    }

    /// The bytes of one connection.
    struct Flow: Sendable {
        var fromDialler: [UInt8] = []
        var fromListener: [UInt8] = []
        var isOver = false

        var all: [[UInt8]] { [fromDialler, fromListener] }
    }

    typealias Meddler = @Sendable (Chunk) -> Verdict

    nonisolated let loop: EventLoop
    nonisolated let wakeup = Wakeup()
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    nonisolated private let target = Target()
    nonisolated let address: SocketAddress

    private let listener: Listener
    private var ends: [Int: End] = [:]
    private(set) var flows: [Flow] = []
    private var held: Set<Int> = []
    private var meddler: Meddler
    private var awaited: [(condition: @Sendable ([Flow]) -> Bool, signal: Promise<Void>)] = []
    private var isStopped = false

    /// The address at which the tapped session listens.
    private final class Target: Sendable {
        let address = Locked<SocketAddress?>(nil)
    }

    private final class Listener: Sendable {
        let socket: Socket
        init(_ socket: consuming Socket) { self.socket = socket }
    }

    private final class End {
        let socket: Socket
        let flow: Int
        let side: Side
        var isConnecting: Bool
        var waiting: [UInt8] = []

        init(_ socket: consuming Socket, _ flow: Int, _ side: Side) {
            self.socket = socket
            self.flow = flow
            self.side = side
            isConnecting = side == .listener
        }
    }

    init(_ meddler: @escaping Meddler = { _ in .pass }) async throws {
        loop = try EventLoop.next()
        let socket = try Socket.listening(on: .loopback)
        guard let address = socket.localAddress else { throw Overdue() }
        self.address = address
        listener = Listener(socket)
        self.meddler = meddler
        try watch()
    }

    private func watch() throws {
        try loop.register(listener.socket.descriptor, for: self, token: -1, interest: .readable)
    }

    /// For `SessionOverrides.advertising`: remembers where the session listens, and names the tap instead.
    nonisolated var advertise: @Sendable ([Candidate]) -> [Candidate] {
        { [target, address] candidates in
            target.address.withLock { $0 = candidates.first.flatMap { SocketAddress($0) } }
            return Candidate(address).map { [$0] } ?? []
        }
    }

    func meddle(_ meddler: @escaping Meddler) { self.meddler = meddler }

    /// Waits until the flows match.
    func until(_ condition: @escaping @Sendable ([Flow]) -> Bool) async {
        if condition(flows) { return }
        let signal = Promise<Void>()
        awaited.append((condition, signal))
        await signal.value(onCancel: { signal.send(()) })
    }

    /// Ends every connection and takes no more.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        loop.deregister(listener.socket.descriptor)
        cutAll()
    }

    /// Ends every connection; new ones are passed on.
    func cutAll() { for flow in flows.indices { end(flow) } }

    /// Makes a connection of its own to the tapped session, and records the answer.
    func dial(sending bytes: [UInt8]) throws {
        let address = try #require(target.address.withLock { $0 })
        let flow = flows.count
        flows.append(Flow(fromDialler: bytes))
        let end = End(try Socket.connecting(to: address), flow, .listener)
        end.waiting = bytes
        keep(end)
    }

    /// Sends injected bytes to one side of a flow.
    func inject(_ bytes: [UInt8], to side: Side, of flow: Int = 0) {
        for end in Array(ends.values) where end.flow == flow && end.side == side { write(bytes, to: end) }
    }
}

// MARK: what the loop brings

extension Tap {
    nonisolated func ready(_ token: Int, _ readiness: Readiness) {
        assumeIsolated { $0.handle(token, readiness) }
    }
    nonisolated func deadlineReached() {}
    nonisolated func wokenUp() {}
    nonisolated func turnEnded() {}

    private func handle(_ token: Int, _ readiness: Readiness) {
        if token < 0 { return accept() }
        guard let end = ends[token] else { return }
        if end.isConnecting {
            end.isConnecting = false
            if end.socket.connectionResult() != nil { return self.end(end.flow) }
        }
        write([], to: end)
        if readiness != .writable { read(end) }
    }

    private func accept() {
        guard case .socket(let socket, from: _) = listener.socket.accept() else { return }
        let flow = flows.count
        flows.append(Flow())
        keep(End(socket, flow, .dialler))
        if let target = target.address.withLock({ $0 }), let onward = try? Socket.connecting(to: target) {
            keep(End(onward, flow, .listener))
        }
        wakeWaiters()
    }

    private func keep(_ end: End) {
        let token = end.flow * 2 + (end.side == .listener ? 1 : 0)
        ends[token] = end
        let interest: Readiness = end.isConnecting ? .writable : .readable
        do { try loop.register(end.socket.descriptor, for: self, token: token, interest: interest) } catch {
            ends[token] = nil
        }
    }

    private func read(_ end: End) {
        var buffer = ByteBuffer()
        switch end.socket.receive(into: &buffer, upTo: 262_144) {
        case .bytes: judge(buffer.takeAll(), end)
        case .wouldBlock: break
        case .endOfStream, .failed:
            if held.contains(end.flow) { return drop(end) }
            self.end(end.flow)
        }
    }

    private func judge(_ bytes: [UInt8], _ end: End) {
        let offset =
            end.side == .dialler ? flows[end.flow].fromDialler.count : flows[end.flow].fromListener.count
        if end.side == .dialler {
            flows[end.flow].fromDialler += bytes
        } else {
            flows[end.flow].fromListener += bytes
        }
        let verdict: Verdict =
            held.contains(end.flow)
            ? .hold : meddler(Chunk(flow: end.flow, from: end.side, bytes: bytes, offset: offset))
        let other = ends[end.flow * 2 + (end.side == .dialler ? 1 : 0)]
        switch verdict {
        case .pass: other.map { write(bytes, to: $0) }
        case .replace(let bytes): other.map { write(bytes, to: $0) }
        case .drip: for byte in bytes { other.map { write([byte], to: $0) } }
        case .hold: held.insert(end.flow)
        case .answer(let bytes): write(bytes, to: end)
        case .cut(let bytes):
            other.map { write(bytes, to: $0) }
            self.end(end.flow)
        }
        wakeWaiters()
    }

    private func write(_ bytes: [UInt8], to end: End) {
        end.waiting += bytes
        if end.isConnecting { return }
        while !end.waiting.isEmpty {
            guard case .sent(let count) = end.socket.send(end.waiting.span) else { break }
            end.waiting.removeFirst(count)
        }
        try? loop.setInterest(
            end.socket.descriptor, end.waiting.isEmpty ? .readable : [.readable, .writable])
    }

    private func end(_ flow: Int) {
        for end in Array(ends.values) where end.flow == flow { drop(end) }
        flows[flow].isOver = true
        wakeWaiters()
    }

    private func drop(_ end: End) {
        loop.deregister(end.socket.descriptor)
        ends[end.flow * 2 + (end.side == .listener ? 1 : 0)] = nil
    }

    private func wakeWaiters() {
        let met = awaited.filter { $0.condition(flows) }
        awaited.removeAll { $0.condition(flows) }
        for waiter in met { waiter.signal.send(()) }
    }
}
