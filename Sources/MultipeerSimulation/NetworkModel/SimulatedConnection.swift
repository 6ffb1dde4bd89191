import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

/// One connection as the network sees it: bytes in order, each way with delays of its own. End 0 dialled.
///
/// There is no real TLS: the network knows which fingerprint each end shows, and reports it at the moments at which a
/// handshake would.
final class SimulatedConnection {
    let number: Int
    /// The nodes at the two ends; the second is -1 while no node has the address that was dialled. An attacker's end is
    /// -1, too.
    var nodes: [Int]
    /// The key that the dialler accepts; nil for plain.
    let key: Fingerprint?
    let dialled: Candidate
    let binding: [UInt8]
    /// When it was dialled.
    let dialledAt: Int64
    /// Whether frames were changed, dropped or invented on the way.
    var isForged = false
    /// The socket at each end, while it is open.
    var sockets: [SimulatedSocket?] = [nil, nil]
    /// What is in flight to each end.
    var inFlight: [InFlightQueue]
    /// Whether everything in flight is lost, without notice to either end.
    var isDead = false
    /// Whether each end has found out that the connection is dead, or soon will.
    var isNoticed = [false, false]
    /// The target's life when it was dialled: a process that has restarted since knows nothing of it.
    var life = 0
    /// The key that each end showed.
    var keys: [Fingerprint?]
    var record = TrafficTotals()
    /// Channels of both ends.
    var channels: [SimulatedChannel] = []
    /// Bytes a second, each way; nil when there is no limit.
    let rate: Int?

    /// What the messages of a link should add up to.
    struct TrafficTotals {
        var instances: [UInt64] = [0, 0]
        var sent = [0, 0]
        var received = [0, 0]
        /// What the messages of each end have cost, and what the credit that has arrived there allows.
        var spent: [UInt64] = [0, 0]
        var credit: [UInt64] = [0, 0]
        /// Unreliable messages of each end that were sent over UDP, and those that were received.
        var cast = [0, 0]
        var caught: [Set<Int>] = [[], []]
        /// The numbers under which contents have reached each end.
        var reached: [Set<UInt64>] = [[], []]
        /// Whether both ends have held it as their link. Until then the controlling end may still refuse it.
        var isWhole: Bool { !instances.contains(0) }
        /// Whether each end's application has asked for the verification code, and what it received.
        var hasAsked = [false, false]
        var codes: [String?] = [nil, nil]
    }

    var dialler: Int? { nodes[0] < 0 ? nil : nodes[0] }

    /// Whether it was dialled for an invitation.
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
        /// The TLS handshake, or the plain prefaces: three flights.
        case clientHello, serverHello, finished
        case bytes([UInt8])
        /// The end of the stream, and of a stream that TLS refused.
        case fin, alert
    }

    let base: Int64
    private var segments: [TimedSegment] = []
    private var head = 0
    private(set) var last: Int64 = 0
    /// Bytes in flight.
    private(set) var held = 0
    /// Whether the path was blocked when something arrived, which now waits for a retransmission.
    var isStalled = false
    var hasEnded = false
    /// Whether the sender waits until something was taken.
    var isFull = false
    /// Until when earlier bytes occupy the path.
    var busyUntil: Int64 = 0
    /// Since when nothing was acknowledged, when something is outstanding.
    var unacknowledged: Int64?
    /// Whether the sender's system has given up: nothing more arrives.
    var isAbandoned = false

    init(base: Int64) { self.base = base }

    mutating func append(_ contents: Contents, arriving moment: Int64) -> Int64 {
        last = max(last, moment)
        if case .bytes(let bytes) = contents { held += bytes.count }
        if case .fin = contents { hasEnded = true }
        segments.append(TimedSegment(arrival: last, contents: contents))
        return last
    }

    /// Returns when all of it will have been sent.
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

    /// Changes what is delivered next, when that is bytes, and returns whether it is.
    mutating func forge(_ change: (inout [UInt8]) -> Void) -> Bool {
        guard case .bytes(var bytes)? = next else { return false }
        change(&bytes)
        segments[head] = TimedSegment(arrival: segments[head].arrival, contents: .bytes(bytes))
        return true
    }

    /// Inserts bytes ahead of everything that is in flight.
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
    /// Whether this side ends once what waits is written.
    var isFinishing = false
    var hasEnded = false
    /// When bytes were last received.
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

    /// Returns whether its owner still has it.
    func isHeld(by node: Node) -> Bool { (owner?.sockets[id] ?? node.sockets[id]) === self }
}

/// What the world knows about an open link.
final class LinkState {
    let peer: PeerID
    let data: ConnectionData
    let isMesh: Bool
    var datagrams = DatagramEnd()
    let since: Int64
    /// Whether an entry has been received.
    var hasTold = false
    /// When the attempt that made the link ends at the earliest, if that is known, by the clock of the end that connects.
    var attemptEnd: Moment?

    init(_ data: ConnectionData, isMesh: Bool, since: Int64) {
        self.data = data
        peer = data.peer
        self.isMesh = isMesh
        self.since = since
    }
}
