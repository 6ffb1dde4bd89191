import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

/// One session under test, and a peer whose frames the test writes by hand.
struct Stage {
    typealias Action = LinkEstablishment.Action

    var machine: LinkEstablishment
    let we: LocalPeer
    let peer: LocalPeer
    /// The data that we issued for the peer, and the peer's for us.
    let ours: ConnectionData
    let theirs: ConnectionData
    var now = Moment(nanoseconds: 1_000_000_000)
    /// The endpoints that the session met, which `give` records and leaves out of its result.
    var met: [Endpoint] = []
    var random = Seeded(6)
    let channel: SecuredChannel

    static let binding = [UInt8](repeating: 0xB1, count: 32)

    init(
        _ preference: EncryptionPreference = .optional, weAreLower: Bool = false, slots: Int = 7,
        peerInstance: UInt64 = 9, theirCandidates: [Candidate]? = nil, ourCandidates: [Candidate]? = nil,
        theirFlags: ConnectionData.Flags = [], ourFlags: ConnectionData.Flags = [],
        theirPreference: EncryptionPreference? = nil, peerUID: UID? = nil
    ) throws {
        we = try Stage.local("we", high: weAreLower ? 1 : 3, instance: 5, preference)
        peer = try Stage.local(
            "peer", high: 2, uid: peerUID, instance: peerInstance, theirPreference ?? preference)
        machine = LinkEstablishment(we, maximumLinks: slots, seed: 4)
        ours = try machine.connectionData(
            for: peer.peer.uid, candidates: try ourCandidates ?? [Stage.address(1)], flags: ourFlags,
            token: random.bytes(32), at: now)
        theirs = try Stage.issue(
            peer, for: we.peer.uid, theirCandidates ?? [Stage.address(2)], &random, at: now,
            flags: theirFlags)
        channel =
            we.fingerprint == nil
            ? .plain : peer.fingerprint.map { .encrypted($0, binding: Stage.binding) } ?? .plain
    }

    static func local(
        _ name: String, high: UInt64, uid: UID? = nil, instance: UInt64, _ preference: EncryptionPreference
    ) throws -> LocalPeer {
        let key =
            preference == .none
            ? nil : Fingerprint([UInt8](repeating: UInt8(truncatingIfNeeded: high), count: 32))
        return LocalPeer(
            peer: try PeerID(validating: uid ?? UID(high: high, low: 0), displayName: name),
            instance: instance,
            preference: preference, hasIdentity: false, fingerprint: key)
    }

    static func address(_ last: UInt8) throws -> Candidate {
        try #require(Candidate(address: [10, 0, 0, last], port: 50_000))
    }

    static func issue(
        _ issuer: LocalPeer, for uid: UID?, _ candidates: [Candidate], _ random: inout Seeded,
        at now: Moment, flags: ConnectionData.Flags = []
    ) throws -> ConnectionData {
        var machine = LinkEstablishment(issuer, seed: 8)
        return try machine.connectionData(
            for: uid, candidates: candidates, flags: flags, token: random.bytes(32), at: now)
    }
}

// MARK: what happens to the session

extension Stage {
    /// Calls `connect` with the peer's data, or other data; returns what the session did.
    @discardableResult
    mutating func connect(_ data: ConnectionData? = nil, within timeLimit: Duration = .seconds(30)) throws
        -> [Action]
    {
        #expect(try machine.connect(with: data ?? theirs, zones: [1, 2], within: timeLimit, at: now))
        return machine.takeActions()
    }

    /// Makes a connection that the peer dialled and whose channel is secured.
    mutating func accept(_ other: SecuredChannel? = nil) -> ConnectionID {
        let id = machine.accepted(at: now)
        machine.secured(id, other ?? channel, nonce: random.bytes(32), at: now)
        return id
    }

    @discardableResult
    mutating func give(_ id: ConnectionID, _ frame: [UInt8]) -> [Action] {
        let header = FrameHeader(frame.span.extracting(0..<FrameHeader.byteCount))
        machine.receive(id, header, frame.span.extracting(FrameHeader.byteCount..<frame.count), at: now)
        let actions = machine.takeActions()
        met += actions.compactMap { if case .met(let endpoint) = $0 { endpoint } else { nil } }
        return actions.filter { if case .met = $0 { false } else { true } }
    }

    @discardableResult
    mutating func give(_ id: ConnectionID, _ frame: Frame) -> [Action] { give(id, Stage.bytes(frame)) }

    /// Lets the time pass, deadline by deadline; returns what the session did and when, counted from now.
    mutating func wait(_ duration: Duration) -> [(after: Duration, action: Action)] {
        let start = now
        var happened: [(after: Duration, action: Action)] = []
        while let next = machine.deadline, next <= start + duration {
            now = max(now, next)
            machine.advance(to: now)
            happened += machine.takeActions().map { (now - start, $0) }
        }
        now = start + duration
        return happened
    }
}

// MARK: the peer's frames

extension Stage {
    static func bytes(_ frame: Frame) -> [UInt8] {
        var buffer = ByteBuffer()
        frame.encode(into: &buffer)
        return buffer.takeAll()
    }

    func hello(_ change: (inout Hello) -> Void = { _ in }) -> [UInt8] {
        var hello = Hello(
            versions: [1], sender: peer.endpoint, receiver: we.endpoint, myDataReference: theirs.reference,
            yourDataReference: ours.reference, nonce: [UInt8](repeating: 0x11, count: 32))
        change(&hello)
        return Stage.bytes(.hello(hello))
    }

    enum Role: UInt8 {
        case initiator = 0x49
        case responder = 0x52
    }

    /// Returns the CONFIRM of spec 6.3, built from its text.
    func confirm(
        as role: Role, initiator: [UInt8], responder: [UInt8], binding: [UInt8]? = nil,
        swapsTokens: Bool = false,
        peerInitiates: Bool = true
    ) -> [UInt8] {
        let tokens = peerInitiates != swapsTokens ? theirs.token + ours.token : ours.token + theirs.token
        let key = HMAC.sha256(key: Array("MPC/1 link".utf8), tokens)
        let transcript = SHA256.hash(initiator + responder)
        let mac = HMAC.sha256(key: key, [role.rawValue] + transcript + (binding ?? channel.binding))
        return Stage.bytes(.confirm(mac: mac))
    }

    /// Lets the peer dial us and send HELLO; returns the connection, its HELLO and the one that came back.
    mutating func greet(
        trusted: Bool = true
    ) throws -> (id: ConnectionID, theirs: [UInt8], ours: [UInt8], actions: [Action]) {
        let id = accept()
        let greeting = hello()
        var actions = give(id, greeting)
        let answer = try #require(actions.sent(on: id).first)
        if trusted, actions.contains(.ask(peer.endpoint.uid, id)) {
            machine.decide(peer.endpoint.uid, asked: id, isTrusted: true, at: now)
            actions += machine.takeActions()
        }
        return (id, greeting, answer, actions)
    }

    /// Lets the peer dial us, and exchanges CONFIRM both ways.
    @discardableResult
    mutating func candidate() throws -> (id: ConnectionID, actions: [Action]) {
        let greeting = try greet()
        let proof = confirm(as: .initiator, initiator: greeting.theirs, responder: greeting.ours)
        return (greeting.id, give(greeting.id, proof))
    }

    /// Makes a candidate the link, whichever end selects.
    @discardableResult
    mutating func link() throws -> ConnectionID {
        let candidate = try candidate()
        let isLower = we.endpoint.uid < peer.endpoint.uid
        if isLower { #expect(candidate.actions.sent(on: candidate.id) == [Stage.bytes(.select)]) }
        let actions = give(candidate.id, isLower ? .selected : .select)
        #expect(actions.links == [candidate.id])
        return candidate.id
    }
}

extension [LinkEstablishment.Action] {
    func sent(on id: ConnectionID) -> [[UInt8]] {
        compactMap { if case .send(id, let frame) = $0 { frame } else { nil } }
    }

    /// Returns the code with which this connection was closed.
    func code(of id: ConnectionID) -> CloseCode? {
        for case .close(id, let code) in self { return code }
        return nil
    }

    var links: [ConnectionID] {
        compactMap { if case .link(let id, _, remote: _, isMesh: _) = $0 { id } else { nil } }
    }

    /// Whether each link carries entries of the mesh.
    var meshLinks: [Bool] {
        compactMap { if case .link(_, _, remote: _, let isMesh) = $0 { isMesh } else { nil } }
    }

    var dials: [(id: ConnectionID, candidate: Candidate)] {
        compactMap {
            if case .dial(let id, let candidate, accepting: _) = $0 { (id, candidate) } else { nil }
        }
    }

    var failures: [LinkAttemptFailure] {
        compactMap { if case .fail(_, let failure) = $0 { failure } else { nil } }
    }
}
