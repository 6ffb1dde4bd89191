import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerSecurity

/// One connection as the network sees it: bytes in order, each way with delays of its own. End 0 dialled.
///
/// TLS is not spoken: who shows which fingerprint is known to the network, which says so at the moments at which a
/// handshake would.
final class Wire {
    let number: Int
    /// The nodes at the two ends; the second is -1 while nobody has the address that was dialled.
    let nodes: [Int]
    /// The key that the dialler accepts; nil for plain.
    let key: Fingerprint?
    let dialled: Candidate
    let binding: [UInt8]
    /// Who is at the end, while it is open.
    var sockets: [Socket?] = [nil, nil]
    /// What is on its way to each end.
    var pipes: [Pipe]
    /// Everything under way is lost, and nobody is told.
    var isDead = false
    /// Which end has found out that the connection is dead, or soon will.
    var isNoticed = [false, false]
    /// The target's life when it was dialled: a process that restarted meanwhile knows nothing of it.
    var life = 0
    /// Which end showed which key.
    var keys: [Fingerprint?]
    var record = Record()

    /// What the messages of a link should come to.
    struct Record {
        var instances: [UInt64] = [0, 0]
        var sent = [0, 0]
        var received = [0, 0]
        /// What the messages of each end have cost, and what the credit that has arrived there allows.
        var spent: [UInt64] = [0, 0]
        var credit: [UInt64] = [0, 0]
        /// Both ends have held it as their link. Until then the controlling end may still refuse it.
        var isWhole: Bool { !instances.contains(0) }
    }

    init(
        _ number: Int, from dialler: Int, to target: Int, _ candidate: Candidate, key: Fingerprint?,
        bases: [Int64],
        showing own: Fingerprint?, binding: [UInt8]
    ) {
        self.number = number
        nodes = [dialler, target]
        dialled = candidate
        self.key = key
        self.binding = binding
        keys = [own, nil]
        pipes = [Pipe(base: bases[0]), Pipe(base: bases[1])]
    }
}

/// One direction of a connection.
struct Pipe {
    struct Parcel {
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
    private var parcels: [Parcel] = []
    private var head = 0
    private(set) var last: Int64 = 0
    /// Bytes under way.
    private(set) var held = 0
    /// The path was blocked when something arrived: it waits for a retransmission.
    var isStalled = false
    var hasEnded = false
    /// The sender waits until something was taken.
    var isFull = false
    /// Since when nothing was acknowledged, when something is owed.
    var unacknowledged: Int64?

    init(base: Int64) { self.base = base }

    mutating func append(_ contents: Contents, arriving moment: Int64) -> Int64 {
        last = max(last, moment)
        if case .bytes(let bytes) = contents { held += bytes.count }
        if case .fin = contents { hasEnded = true }
        parcels.append(Parcel(arrival: last, contents: contents))
        return last
    }

    mutating func take(by now: Int64) -> Contents? {
        guard head < parcels.count, parcels[head].arrival <= now else { return nil }
        let contents = parcels[head].contents
        head += 1
        if case .bytes(let bytes) = contents { held -= bytes.count }
        if head == parcels.count {
            parcels.removeAll(keepingCapacity: true)
            head = 0
        }
        return contents
    }

    var isEmpty: Bool { head == parcels.count }
}

/// One end of a connection, in the hands of a node.
final class Socket {
    enum Phase { case connecting, securing, framed, over }

    let id: ConnectionID
    let wire: Wire
    let end: Int
    var phase = Phase.connecting
    /// The acceptor's judgement of the key that the dialler is going to show.
    var isWelcome = true
    /// What waits is written, then the end of this side.
    var isFinishing = false
    var hasEnded = false
    /// When bytes came last.
    var heardAt: Int64 = 0
    var seat: Seat?

    init(_ id: ConnectionID, _ wire: Wire, _ end: Int) {
        self.id = id
        self.wire = wire
        self.end = end
    }

    var remote: Int { wire.nodes[1 - end] }
}

/// What the world knows of an open link.
final class Seat {
    let peer: PeerID
    let data: ConnectionData
    let isMesh: Bool
    /// The cost of messages that the application has not taken.
    var untaken = 0
    let since: Int64
    /// An entry has come.
    var hasTold = false

    init(_ data: ConnectionData, isMesh: Bool, since: Int64) {
        self.data = data
        peer = data.peer
        self.isMesh = isMesh
        self.since = since
    }
}
