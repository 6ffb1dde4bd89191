import Glibc
import Multipeer
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity
import MultipeerTransport
import Testing

/// A peer that behaves until its HELLO, over a plain connection and without a loop, and then writes and never reads.
struct RudePeer: ~Copyable {
    /// What it hands to whom it is going to bother.
    let data: ConnectionData
    private var introductions: Introductions
    private let victim: ConnectionData
    private let socket: Socket

    init(meeting victim: ConnectionData) throws {
        let local = LocalPeer(
            peer: try PeerID(displayName: "rude"), instance: 1, preference: .none, hasIdentity: false,
            fingerprint: nil)
        var introductions = Introductions(local, seed: 1)
        // Nobody listens there: it wants to be the one who dials.
        let nowhere = try #require(Candidate(address: [127, 0, 0, 1], port: 1_024))
        let now = EventLoop.currentMoment()
        let data = try introductions.connectionData(
            for: nil, candidates: [nowhere], token: try Randomness.bytes(32), at: now)
        let address = try #require(victim.candidates.first.flatMap { SocketAddress($0) })
        self.init(data: data, introductions, victim, try Socket.connecting(to: address))
    }

    private init(
        data: ConnectionData, _ introductions: Introductions, _ victim: ConnectionData, _ socket: consuming Socket
    ) {
        // A window that is soon full.
        var room: Int32 = 4_096
        for option in [SO_RCVBUF, SO_SNDBUF] {
            _ = unsafe setsockopt(socket.descriptor, SOL_SOCKET, option, &room, 4)
        }
        self.data = data
        self.introductions = introductions
        self.victim = victim
        self.socket = socket
    }

    /// Sends the preface and HELLO, and reads the preface, nothing else.
    mutating func greet() throws {
        let now = EventLoop.currentMoment()
        _ = try introductions.connect(with: victim, zones: [], at: now)
        introductions.advance(to: now + Timing.higherDialDelay)
        let dials = introductions.takeActions().compactMap { action -> ConnectionID? in
            if case .dial(let id, _, accepting: _) = action { id } else { nil }
        }
        let id = try #require(dials.first)
        introductions.secured(id, .plain, nonce: try Randomness.bytes(32), at: now)
        var greeting = Array("MPCPLAIN".utf8)
        for case .send(_, let frame) in introductions.takeActions() { greeting += frame }
        var rest = greeting[...]
        while !rest.isEmpty {
            try #require(canWrite(within: 10_000))
            guard case .sent(let count) = socket.send(rest.span) else { throw Overdue() }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes PINGs until nobody takes any for a second; answers how many bytes of them were taken.
    mutating func flood(upTo limit: Int) throws -> Int {
        var pings = ByteBuffer()
        for token in 0..<UInt64(4_096) { Frame.ping(token).encode(into: &pings) }
        let wave = pings.takeAll()
        var sent = 0
        while sent < limit, canWrite(within: 1_000) {
            let rest = Array(wave[(sent % wave.count)...])
            switch socket.send(rest.span) {
            case .sent(let count): sent += count
            case .wouldBlock: break
            case .failed: throw Overdue()
            }
        }
        return sent
    }

    private func canWrite(within milliseconds: Int32) -> Bool {
        var watched = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&watched, 1, milliseconds) == 1
    }
}
