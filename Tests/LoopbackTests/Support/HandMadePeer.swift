import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import Testing

/// A peer that links over TLS like any other, without a loop, and then sends what a test wants it to send.
final class HandMadePeer {
    /// The data that it gives to the peer that it is going to meet.
    let data: ConnectionData
    private var linkEstablishment: LinkEstablishment
    private let other: ConnectionData
    private let address: SocketAddress
    private var connection: SecuredPipe?
    private let tls: TLSContext
    /// The state before anything was dialled.
    private let fresh: LinkEstablishment

    /// Creates a peer with a uid below or above the other's.
    convenience init(meeting other: ConnectionData, isLower: Bool) throws {
        let uid = UID(high: isLower ? 0 : .max, low: try PeerID(displayName: "x").uid.low)
        let identity = try Identity.generate()
        let local = LocalPeer(
            peer: try PeerID(uid: uid, displayName: "hand-made"), instance: 1, preference: .required,
            hasIdentity: false, fingerprint: identity.fingerprint)
        var linkEstablishment = LinkEstablishment(local, seed: 1)
        // Nothing listens there: it must be the end that dials.
        let nowhere = try #require(Candidate(address: [127, 0, 0, 1], port: 1_024))
        let data = try linkEstablishment.connectionData(
            for: nil, candidates: [nowhere], token: try Randomness.bytes(32), at: EventLoop.currentMoment())
        let address = try #require(other.candidates.first.flatMap { SocketAddress($0) })
        self.init(data, linkEstablishment, other, try TLSContext(identity: identity), address)
    }

    /// Returns the same peer, which knows nothing of its link any more, on another connection.
    func again() -> HandMadePeer { HandMadePeer(data, fresh, other, tls, address) }

    private init(
        _ data: ConnectionData, _ linkEstablishment: LinkEstablishment, _ other: ConnectionData,
        _ tls: TLSContext, _ address: SocketAddress
    ) {
        self.data = data
        self.linkEstablishment = linkEstablishment
        fresh = linkEstablishment
        self.address = address
        self.other = other
        self.tls = tls
    }

    /// Its connection, which begins when it is first needed: the other end limits the time until it is authenticated.
    private var pipe: SecuredPipe {
        get throws {
            if let connection { return connection }
            let pipe = try SecuredPipe(to: address)
            connection = pipe
            return pipe
        }
    }

    /// Exchanges everything up to SELECTED.
    func link() async throws {
        let now = EventLoop.currentMoment()
        _ = try linkEstablishment.connect(with: other, zones: [], at: now)
        linkEstablishment.advance(to: now + HandshakeTiming.higherDialDelay)
        let dials = linkEstablishment.takeActions().compactMap { action -> ConnectionID? in
            if case .dial(let id, _, accepting: _) = action { id } else { nil }
        }
        let id = try #require(dials.first)
        let fingerprint = try #require(other.fingerprint)
        let pin = CertificatePin(fingerprint, of: other.peer.uid)
        try await pipe.secure(try SecureChannel.tls(tls, role: .client, accepting: [pin]))
        let binding = try pipe.exportKey("EXPORTER-mpc1-binding")
        linkEstablishment.secured(
            id, .encrypted(fingerprint, binding: binding), nonce: try Randomness.bytes(32), at: now)
        while try await !carryOut() {
            let (header, payload) = try await pipe.next()
            linkEstablishment.receive(id, header, payload.span, at: now)
        }
    }

    /// Carries out actions; returns whether the link is established.
    private func carryOut() async throws -> Bool {
        var isLinked = false
        while true {
            let actions = linkEstablishment.takeActions()
            if actions.isEmpty { return isLinked }
            for action in actions {
                switch action {
                case .send(_, let frame): try await pipe.say(frame)
                case .ask(let uid, _):
                    linkEstablishment.decide(uid, isTrusted: true, at: EventLoop.currentMoment())
                case .link: isLinked = true
                case .close(_, let code): throw Closed(code: code)
                default: break
                }
            }
        }
    }

    struct Closed: Error { let code: CloseCode }

    /// Returns the key that both ends of the connection have.
    func exportKey(_ label: String) throws -> [UInt8] { try pipe.exportKey(label) }

    func say(_ frames: Frame...) async throws { try await pipe.say(frames) }

    func say(_ frames: [Frame]) async throws { try await pipe.say(frames) }

    /// Waits for the next frame of one of these kinds.
    func hear(_ kinds: FrameKind...) async throws -> Frame {
        while true {
            let (header, payload) = try await pipe.next()
            if kinds.contains(header.kind) { return try Frame(header, payload.span) }
        }
    }
}
