import Glibc
import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

/// A peer that behaves until its CONFIRM, over a plain connection and without a loop, and then writes and never reads.
struct RudePeer: ~Copyable {
    /// The data that it gives to the peer that it is going to flood.
    let data: ConnectionData
    private var linkEstablishment: LinkEstablishment
    private let victim: ConnectionData
    private let socket: Socket

    /// Creates a peer. `room`: the size of the system's buffers for what it sends and receives.
    init(meeting victim: ConnectionData, room: Int32 = 4_096) throws {
        let local = LocalPeer(
            peer: try PeerID(displayName: "rude"), instance: 1, preference: .none, hasIdentity: false,
            fingerprint: nil)
        var linkEstablishment = LinkEstablishment(local, seed: 1)
        // Nothing listens there: it must be the end that dials.
        let nowhere = try #require(Candidate(address: [127, 0, 0, 1], port: 1_024))
        let now = EventLoop.currentMoment()
        let data = try linkEstablishment.connectionData(
            for: nil, candidates: [nowhere], token: try Randomness.bytes(32), at: now)
        let address = try #require(victim.candidates.first.flatMap { SocketAddress($0) })
        self.init(data: data, linkEstablishment, victim, try Socket.connecting(to: address), room)
    }

    private init(
        data: ConnectionData, _ linkEstablishment: LinkEstablishment, _ victim: ConnectionData,
        _ socket: consuming Socket, _ room: Int32
    ) {
        var room = room  // a window that is soon full
        for option in [SO_RCVBUF, SO_SNDBUF] {
            _ = unsafe setsockopt(socket.descriptor, SOL_SOCKET, option, &room, 4)
        }
        self.data = data
        self.linkEstablishment = linkEstablishment
        self.victim = victim
        self.socket = socket
    }

    /// Exchanges everything up to CONFIRM, or until it is linked.
    mutating func introduce(untilLinked: Bool = false) async throws {
        let now = EventLoop.currentMoment()
        _ = try linkEstablishment.connect(with: victim, zones: [], at: now)
        linkEstablishment.advance(to: now + HandshakeTiming.higherDialDelay)
        let dials = linkEstablishment.takeActions().compactMap { action -> ConnectionID? in
            if case .dial(let id, _, accepting: _) = action { id } else { nil }
        }
        let id = try #require(dials.first)
        try await write(Array("MPCPLAIN".utf8))
        linkEstablishment.secured(id, .plain, nonce: try Randomness.bytes(32), at: now)
        _ = try await carryOut()
        _ = try await read(8)
        while true {
            let start = try await read(FrameHeader.byteCount)
            let header = FrameHeader(start.span)
            let payload = try await read(header.length)
            linkEstablishment.receive(id, header, payload.span, at: now)
            if header.kind == .confirm, !untilLinked { return }
            if try await carryOut() { return }
        }
    }

    /// Carries out actions; returns whether it is linked now.
    private mutating func carryOut() async throws -> Bool {
        var isLinked = false
        while true {
            let actions = linkEstablishment.takeActions()
            if actions.isEmpty { return isLinked }
            for action in actions {
                if case .send(_, let frame) = action { try await write(frame) }
                if case .link = action { isLinked = true }
                if case .ask(let uid, let id) = action {
                    linkEstablishment.decide(uid, asked: id, isTrusted: true, at: EventLoop.currentMoment())
                }
            }
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        var rest = bytes
        while !rest.isEmpty {
            try await SocketEvent.writable.wait(for: socket.descriptor, milliseconds: 10_000)
            switch socket.send(rest.span) {
            case .sent(let count): rest.removeFirst(count)
            case .wouldBlock: break
            case .failed: throw Overdue()
            }
        }
    }

    private func read(_ count: Int) async throws -> [UInt8] {
        var buffer = ByteBuffer()
        while buffer.count < count {
            switch socket.receive(into: &buffer, upTo: count - buffer.count) {
            case .bytes: continue
            case .wouldBlock:
                try await SocketEvent.readable.wait(for: socket.descriptor, milliseconds: 10_000)
            case .endOfStream, .failed: throw Overdue()
            }
        }
        return buffer.takeAll()
    }

    /// Writes PINGs until none is taken for half a second, or the connection is over; returns whether it is still open.
    func floodUntilHeldBack() async -> Bool {
        var pings = ByteBuffer()
        for token in 0..<UInt64(4_096) { Frame.ping(token).encode(into: &pings) }
        let wave = pings.takeAll()
        var sent = 0
        var progress = ContinuousClock.now
        while ContinuousClock.now - progress < .milliseconds(500) {
            await Task.yield()  // it waits without a loop, and others need the thread
            guard canWrite(within: 10) else { continue }
            let rest = Array(wave[(sent % wave.count)...])
            guard case .sent(let count) = socket.send(rest.span) else { return false }
            sent += count
            progress = .now
        }
        return true
    }

    private func canWrite(within milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&watched, 1, milliseconds) == 1
    }
}
