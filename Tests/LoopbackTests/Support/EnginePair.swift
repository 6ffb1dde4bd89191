import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity
import Testing

/// Two engines with one plain link between them, and no socket. Everything happens at one moment, but for `idle`.
final class EnginePair {
    let ann = EngineSide(uid: UID(high: 1, low: 1), address: 1)
    let bob = EngineSide(uid: UID(high: 2, low: 2), address: 2)
    private var connections: [(ann: ConnectionID, bob: ConnectionID)] = []

    /// Links the two; `bobs`: whether bob takes datagrams.
    init(bobs: Bool = true) throws {
        for (side, takes) in [(ann, true), (bob, bobs)] { try side.begin(takesDatagrams: takes) }
        let (annsData, bobsData) = (try ann.data(), try bob.data())
        try ann.connect(bobsData)
        try bob.connect(annsData)
        settle()
        _ = try #require(ann.peer)
        _ = try #require(bob.peer)
    }

    /// Lets the time pass; nothing is sent but what the engines send themselves.
    func idle(for duration: Duration) {
        let end = ann.now + duration
        while let next = Moment.earlier(ann.engine.deadline, bob.engine.deadline), next <= end {
            for side in [ann, bob] { side.pass(to: next) }
            settle()
        }
        for side in [ann, bob] { side.pass(to: end) }
    }

    /// Delivers frames and contents both ways until nothing is left.
    func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for (side, other) in [(ann, bob), (bob, ann)] {
                var hasArrived = false
                for dialled in side.takeDials() {
                    guard let accepted = other.accept() else { continue }
                    side.secure(dialled)
                    connections.append(side === ann ? (dialled, accepted) : (accepted, dialled))
                    isQuiet = false
                }
                for pair in connections {
                    let (from, to) = side === ann ? (pair.ann, pair.bob) : (pair.bob, pair.ann)
                    let frames = side.fill(from)
                    if frames.isEmpty { continue }
                    other.receive(frames, on: to)
                    hasArrived = true
                }
                for content in side.takeContents() {
                    other.receive(content)
                    hasArrived = true
                }
                if hasArrived { (other.wakeups, isQuiet) = (other.wakeups + 1, false) }
            }
        }
    }
}

/// One of them, and its actions.
final class EngineSide {
    var engine: SessionEngine
    private(set) var orders: [DatagramAction] = []
    private(set) var peer: LinkedPeer?
    var now = Moment(nanoseconds: 1_000_000_000_000)
    /// How often something arrived, or its deadline came.
    fileprivate(set) var wakeups = 0
    private let address: UInt8
    private let local: LocalPeer
    private var dials: [ConnectionID] = []
    private var contents: [[UInt8]] = []

    init(uid: UID, address: UInt8) {
        self.address = address
        local = LocalPeer(
            peer: PeerID.of(uid), instance: uid.low, preference: .none, hasIdentity: false, fingerprint: nil)
        engine = SessionEngine(local, seed: 1)
    }

    func begin(takesDatagrams: Bool) throws {
        engine = SessionEngine(local, .init(takesDatagrams: takesDatagrams), seed: 1)
    }

    func data() throws -> ConnectionData {
        let candidate = try #require(Candidate(address: [127, 0, 0, address], port: 50_000))
        return try engine.connectionData(
            for: nil, joinsMesh: false, candidates: [candidate],
            tokens: [UInt8](repeating: address, count: 64), at: now)
    }

    func connect(_ data: ConnectionData) throws {
        _ = try engine.connect(with: data, within: .seconds(30), at: now)
        take()
    }

    /// Returns the id of its link.
    func id() throws -> ConnectionID { try #require(peer).id }

    func takeOrders() -> [DatagramAction] {
        take()
        defer { orders = [] }
        return orders
    }

    // MARK: the network

    fileprivate func pass(to now: Moment) {
        self.now = now
        guard let deadline = engine.deadline, deadline <= now else { return }
        wakeups += 1
        engine.advance(to: now)
        take()
    }

    private func take() {
        while case let outputs = engine.takeOutputs(), !outputs.isEmpty {
            for output in outputs {
                switch output {
                case .connection(.dial(let id, _, accepting: _)): dials.append(id)
                case .ask(let uid, let id): engine.decide(uid, asked: id, isTrusted: true, at: now)
                case .linked(let id, _, remote: _, isMesh: _): peer = engine.links.peer(on: id)
                case .datagram(_, .send(let content)): contents.append(content)
                case .datagram(_, let order): orders.append(order)
                default: break
                }
            }
        }
    }

    func takeDials() -> [ConnectionID] {
        take()
        defer { dials = [] }
        return dials
    }

    func takeContents() -> [[UInt8]] {
        take()
        defer { contents = [] }
        return contents
    }

    func accept() -> ConnectionID? {
        guard let id = engine.accepted(from: [127, 0, 0, 3 - address], at: now) else { return nil }
        secure(id)
        return id
    }

    func secure(_ id: ConnectionID) {
        engine.secured(id, .plain, nonce: [UInt8](repeating: address, count: 32), at: now)
        take()
    }

    func fill(_ id: ConnectionID) -> [UInt8] {
        var output = ByteBuffer()
        _ = engine.fill(id, into: &output, upTo: 65_536, at: now)
        take()
        return output.takeAll()
    }

    func receive(_ frames: [UInt8], on id: ConnectionID) {
        var offset = 0
        while offset < frames.count {
            offset += engine.receive(frames.span.extracting(offset..<frames.count), on: id, at: now)
            take()
        }
    }

    @discardableResult
    func receive(_ content: [UInt8]) -> Bool {
        guard let peer else { return false }
        return engine.datagrams.receive(content.span, from: peer, at: now).isMessage
    }

    /// Returns the content of a message; nil when it is not sent this way.
    func encode(_ message: [UInt8]) -> [UInt8]? {
        var content = ByteBuffer()
        guard let peer, engine.datagrams.encode(message.span, to: peer, into: &content, at: now) else {
            return nil
        }
        return content.takeAll()
    }
}

extension PeerID {
    fileprivate static func of(_ uid: UID) -> PeerID {
        do { return try PeerID(validating: uid, displayName: "\(uid.low)") } catch {
            preconditionFailure("a name of one digit is a name")
        }
    }
}
