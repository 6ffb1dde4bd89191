import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerSecurity

/// One connection as the network sees it: bytes in order, each way with delays of its own. End 0 dialled.
///
/// TLS is not spoken: who shows which fingerprint is known to the network, which says so at the moments at which a
/// handshake would.
final class SimulatedConnection {
    let number: Int
    /// The nodes at the two ends; the second is -1 while nobody has the address that was dialled. An end that is an
    /// attacker's is -1, too.
    var nodes: [Int]
    /// The key that the dialler accepts; nil for plain.
    let key: Fingerprint?
    let dialled: Candidate
    let binding: [UInt8]
    /// When it was dialled.
    let dialledAt: Int64
    /// Frames were changed, lost or invented on the way.
    var isForged = false
    /// Who is at the end, while it is open.
    var sockets: [SimulatedSocket?] = [nil, nil]
    /// What is on its way to each end.
    var inFlight: [InFlightQueue]
    /// Everything under way is lost, and nobody is told.
    var isDead = false
    /// Which end has found out that the connection is dead, or soon will.
    var isNoticed = [false, false]
    /// The target's life when it was dialled: a process that restarted meanwhile knows nothing of it.
    var life = 0
    /// Which end showed which key.
    var keys: [Fingerprint?]
    var record = TrafficTotals()
    /// Channels of both ends.
    var channels: [SimulatedChannel] = []
    /// Bytes a second, each way; nil when there is no limit.
    let rate: Int?

    /// What the messages of a link should come to.
    struct TrafficTotals {
        var instances: [UInt64] = [0, 0]
        var sent = [0, 0]
        var received = [0, 0]
        /// What the messages of each end have cost, and what the credit that has arrived there allows.
        var spent: [UInt64] = [0, 0]
        var credit: [UInt64] = [0, 0]
        /// Unreliable messages of each end that went over UDP, and those that came.
        var cast = [0, 0]
        var caught: [Set<Int>] = [[], []]
        /// The numbers under which contents have reached each end.
        var reached: [Set<UInt64>] = [[], []]
        /// Both ends have held it as their link. Until then the controlling end may still refuse it.
        var isWhole: Bool { !instances.contains(0) }
        /// Which end's application has asked for the verification code, and what it heard.
        var hasAsked = [false, false]
        var codes: [String?] = [nil, nil]
    }

    var dialler: Int? { nodes[0] < 0 ? nil : nodes[0] }

    /// It was dialled for an invitation.
    var isInvitation: Bool { dialled.port == InvitationTraffic.port }

    init(
        _ number: Int, from dialler: Int, to target: Int, _ candidate: Candidate, key: Fingerprint?,
        bases: [Int64], rate: Int?, at now: Int64,
        showing own: Fingerprint?, binding: [UInt8]
    ) {
        self.number = number
        nodes = [dialler, target]
        dialled = candidate
        self.key = key
        self.rate = rate
        dialledAt = now
        self.binding = binding
        keys = [own, nil]
        inFlight = [InFlightQueue(base: bases[0]), InFlightQueue(base: bases[1])]
    }
}

/// One direction of a connection.
struct InFlightQueue {
    struct TimedSegment {
        let arrival: Int64
        let contents: Contents
    }

    enum Contents {
        /// The target's kernel answered.
        case connected
        /// The handshake of TLS, or the plain prefaces: three flights.
        case clientHello, serverHello, finished
        case bytes([UInt8])
        /// The end of the stream, and of a stream that TLS refused.
        case fin, alert
    }

    let base: Int64
    private var segments: [TimedSegment] = []
    private var head = 0
    private(set) var last: Int64 = 0
    /// Bytes under way.
    private(set) var held = 0
    /// The path was blocked when something arrived: it waits for a retransmission.
    var isStalled = false
    var hasEnded = false
    /// The sender waits until something was taken.
    var isFull = false
    /// Until when what was written before takes the path.
    var busyUntil: Int64 = 0
    /// Since when nothing was acknowledged, when something is owed.
    var unacknowledged: Int64?

    init(base: Int64) { self.base = base }

    mutating func append(_ contents: Contents, arriving moment: Int64) -> Int64 {
        last = max(last, moment)
        if case .bytes(let bytes) = contents { held += bytes.count }
        if case .fin = contents { hasEnded = true }
        segments.append(TimedSegment(arrival: last, contents: contents))
        return last
    }

    /// When all of it is on its way.
    mutating func pass(_ contents: Contents, rate: Int?, at now: Int64) -> Int64 {
        guard let rate, case .bytes(let bytes) = contents else { return now }
        busyUntil = max(busyUntil, now) + Int64(bytes.count) * 1_000_000_000 / Int64(rate)
        return busyUntil
    }

    mutating func take(by now: Int64) -> Contents? {
        guard head < segments.count, segments[head].arrival <= now else { return nil }
        let contents = segments[head].contents
        head += 1
        if case .bytes(let bytes) = contents { held -= bytes.count }
        if head == segments.count {
            segments.removeAll(keepingCapacity: true)
            head = 0
        }
        return contents
    }

    var isEmpty: Bool { head == segments.count }

    /// What is delivered next.
    var next: Contents? { isEmpty ? nil : segments[head].contents }

    /// Changes what is delivered next, where it is bytes; returns whether it is.
    mutating func forge(_ change: (inout [UInt8]) -> Void) -> Bool {
        guard case .bytes(var bytes)? = next else { return false }
        change(&bytes)
        segments[head] = TimedSegment(arrival: segments[head].arrival, contents: .bytes(bytes))
        return true
    }

    /// Puts bytes before everything that is on its way.
    mutating func inject(_ bytes: [UInt8], at now: Int64) {
        held += bytes.count
        segments.insert(TimedSegment(arrival: now, contents: .bytes(bytes)), at: head)
    }
}

/// One end of a connection, in the hands of a node.
final class SimulatedSocket {
    enum Phase { case connecting, securing, framed, over }

    let id: ConnectionID
    let connection: SimulatedConnection
    let end: Int
    var phase = Phase.connecting
    /// The acceptor's judgement of the key that the dialler is going to show.
    var isWelcome = true
    /// What waits is written, then the end of this side.
    var isFinishing = false
    var hasEnded = false
    /// When bytes came last.
    var heardAt: Int64 = 0
    var linkState: LinkState?
    /// The end of invitations that it belongs to; nil for one of the session.
    let owner: InvitationEnd?

    init(_ id: ConnectionID, _ connection: SimulatedConnection, _ end: Int, of owner: InvitationEnd? = nil) {
        self.id = id
        self.owner = owner
        self.connection = connection
        self.end = end
    }

    var remote: Int { connection.nodes[1 - end] }

    /// Whether its owner still has it.
    func isHeld(by node: Node) -> Bool { (owner?.sockets[id] ?? node.sockets[id]) === self }
}

/// What the world knows of an open link.
final class LinkState {
    let peer: PeerID
    let data: ConnectionData
    let isMesh: Bool
    var datagrams = DatagramEnd()
    let since: Int64
    /// An entry has come.
    var hasTold = false
    /// Since when the peer was sought, when that is known, by the clock of the end that seeks.
    var connectingSince: Moment?

    init(_ data: ConnectionData, isMesh: Bool, since: Int64) {
        self.data = data
        peer = data.peer
        self.isMesh = isMesh
        self.since = since
    }
}
