import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// One connection from its first secured byte until it is a candidate for the link. Spec 6.2 and 6.3.
///
/// ```
/// securing ──secured──▶ greeting ──HELLO──▶ deciding ──trusted──▶ confirming ──CONFIRM──▶ candidate
///    └─────────────────────┴───────────────────┴──────────────────────┴──────────▶ ended
/// ```
///
/// The dialler sends its HELLO first; the other side responds once it knows the peer. A CONFIRM that arrives during the
/// trust decision is checked at once and the result is remembered.
package struct Handshake: Sendable {
    package enum Role: UInt8, Sendable {
        case initiator = 0x49  // "I"
        case responder = 0x52  // "R"
    }

    package enum Phase: Equatable, Sendable {
        case securing
        case greeting
        case deciding(confirmed: Bool)
        case confirming
        case candidate
        case ended
    }

    enum Action: Equatable, Sendable {
        case send([UInt8])
        /// Ask the session whether the holder of this key may be linked.
        case decide
        case candidate
        /// The identity of the peer was verified.
        case met
        case close(CloseCode)
    }

    let role: Role
    private(set) var phase = Phase.securing
    private(set) var deadline: Moment
    /// The peer for which this connection is: the initiator knows it from the start, the responder after HELLO.
    private(set) var expectedPeer: ExpectedPeer?
    private(set) var remote: Hello?
    /// Whether a link made of it carries membership entries of the mesh. Spec 11.1.
    private(set) var makesMesh = false

    private let local: LocalPeer
    /// The time for the steps up to HELLO, and for those after the trust decision.
    private(set) var timer: StepTimer
    /// The index of the issued data to name in our HELLO, the most likely first.
    let guess: Int
    private var ownHello: [UInt8] = []
    /// The reference of our data that our HELLO names.
    private var named: [UInt8] = []
    /// `th` of spec 6.3, once both HELLOs are known.
    private var transcript: [UInt8] = []
    private var nonce: [UInt8] = []
    /// `K` of spec 6.3, once it is known which connection data both sides use.
    private var key: SecureBytes?
    private var channel = SecuredChannel.plain

    init(
        _ role: Role, for expectedPeer: ExpectedPeer?, guess: Int = 0, local: LocalPeer, at now: Moment
    ) {
        self.role = role
        self.expectedPeer = expectedPeer
        self.guess = guess
        self.local = local
        timer = role == .initiator ? .dialled(at: now) : .accepted(at: now)
        deadline = timer.deadline
    }

    /// Handles the TCP connection of a dial.
    mutating func connected(at now: Moment) {
        guard role == .initiator, phase == .securing, timer.roundTrip == .zero else { return }
        moved(at: now)
    }

    private mutating func moved(at now: Moment) {
        timer.moved(at: now)  // [link.timeouts]
        deadline = timer.deadline
    }

    /// Handles an established channel: TLS, or the exchange of plain prefaces. `nonce`: 32 random bytes.
    mutating func secured(
        _ channel: SecuredChannel, nonce: [UInt8], meshSnapshot: MeshSnapshot, grease: UInt64, at now: Moment
    ) -> [Action] {
        guard phase == .securing else { return [] }
        self.channel = channel
        self.nonce = nonce
        phase = .greeting
        moved(at: now)
        guard role == .initiator, let expectedPeer else { return [] }
        guard channel.suits(expectedPeer) else { return end(.policy) }  // [hello.mode]
        guard !expectedPeer.issued.isEmpty else { return end(.internal) }
        let issued = expectedPeer.issued[guess % expectedPeer.issued.count]
        return [greet(expectedPeer, with: issued, meshSnapshot, grease: grease)]
    }

    /// Handles a HELLO. `lookUp` finds the peer that the session expects under a uid.
    mutating func greeted(
        _ payload: Span<UInt8>, meshSnapshot: MeshSnapshot, grease: UInt64, at now: Moment,
        lookUp: (UID) -> ExpectedPeer?
    ) -> [Action] {
        guard phase == .greeting else { return end(.protocolError) }  // [hello.first]
        let hello: Hello
        do {
            hello = try Hello(payload)
        } catch {
            return end(error.closeCode)
        }
        switch judge(hello, lookUp: lookUp, at: now) {
        case .failure(let refusal): return end(refusal.code)
        case .success(let found):
            expectedPeer = found.expectedPeer
            remote = hello
            makesMesh = joins(found.expectedPeer, with: found.issued)
            let isTooMany = makesMesh && !meshSnapshot.admits(hello.sender, listing: hello.members)
            if isTooMany || found.expectedPeer.isDeclined {
                return [.met] + end(.full)  // [mesh.full] [limit.links]
            }
            let theirHello = Handshake.frame(.hello, payload)
            key = found.expectedPeer.key(with: found.issued, weInitiate: role == .initiator)
            phase = .deciding(confirmed: false)
            deadline = now + local.decision
            if role == .initiator {
                transcript = LinkConfirmation.transcript(initiator: ownHello, responder: theirHello)
                return [.met, .decide]
            }
            let own = greet(found.expectedPeer, with: found.issued, meshSnapshot, grease: grease)
            transcript = LinkConfirmation.transcript(initiator: theirHello, responder: ownHello)
            return [.met, own, .decide]
        }
    }

    /// Takes the trust decision. [trust.before-confirm]
    mutating func decided(_ isTrusted: Bool) -> [Action] {
        guard case .deciding(let confirmed) = phase else { return [] }
        guard isTrusted else { return end(.rejected) }
        phase = confirmed ? .candidate : .confirming
        let confirm = Handshake.frame(.confirm, mac(as: role).span)
        return confirmed ? [.send(confirm), .candidate] : [.send(confirm)]
    }

    mutating func confirmArrived(_ received: [UInt8]) -> [Action] {
        switch phase {
        case .deciding(confirmed: false):
            guard isGenuine(received) else { return end(.badMAC) }
            phase = .deciding(confirmed: true)
            return []
        case .confirming:
            guard isGenuine(received) else { return end(.badMAC) }
            phase = .candidate
            return [.candidate]
        case .securing, .greeting, .deciding, .candidate, .ended:
            return end(.protocolError)  // [confirm.order]
        }
    }

    /// Handles a PING, which is answered on a candidate and is not allowed elsewhere. [frame.order]
    mutating func pinged(_ token: UInt64) -> [Action] {
        guard phase == .candidate else { return end(.protocolError) }
        return [.send(Frame.pong(token).bytes)]
    }

    /// Handles an unsolicited PONG.
    mutating func ponged() -> [Action] {
        switch phase {
        case .securing, .greeting, .ended: end(.protocolError)  // [hello.first]
        case .deciding, .confirming, .candidate: []
        }
    }

    /// Whether the peer is known for certain before its HELLO: TLS has verified the key that its data pin.
    var knowsItsPeer: Bool { role == .initiator && phase != .securing && channel.isEncrypted }

    /// Whether both HELLOs were exchanged and are compatible.
    var hasMet: Bool {
        switch phase {
        case .deciding, .confirming, .candidate: true
        case .securing, .greeting, .ended: false
        }
    }

    /// Handles the timeout of the current phase.
    mutating func timedOut() -> [Action] { phase == .ended ? [] : end(.timeout) }  // [link.timeouts]

    /// Restarts the timeout for the peer's next frame. [link.timeouts]
    mutating func expectSelection(at now: Moment) {
        deadline = now + timer.limit(atLeast: HandshakeTiming.selection)
    }

    mutating func end(_ code: CloseCode) -> [Action] {
        phase = .ended
        return [.close(code)]
    }
}

extension Handshake {
    private struct Refusal: Error { let code: CloseCode }
    private struct Found {
        let expectedPeer: ExpectedPeer
        let issued: ConnectionData
    }

    /// Applies the receiver's checks of a HELLO, in the order of spec 6.2.
    private func judge(
        _ hello: Hello, lookUp: (UID) -> ExpectedPeer?, at now: Moment
    ) -> Result<Found, Refusal> {
        guard hello.version != nil else { return .failure(Refusal(code: .version)) }  // [hello.version]
        guard hello.sender.uid != local.endpoint.uid else { return .failure(Refusal(code: .itself)) }
        guard hello.receiver == local.endpoint else { return refuse(.unknownPeer) }  // [hello.receiver]
        guard let known = lookUp(hello.sender.uid), known.endpoint == hello.sender,
            expectedPeer == nil || expectedPeer?.data == known.data
        else { return refuse(.unknownPeer) }  // [hello.sender]
        guard hello.myDataReference == known.data.reference,
            let issued = known.issued.first(where: { $0.reference == hello.yourDataReference })
        else { return refuse(.unknownPeer) }  // [hello.refs] [data.expiry]
        guard role == .responder || hello.yourDataReference == named else {
            return refuse(.unknownPeer)  // [hello.same-data]
        }
        guard channel.suits(known) else { return refuse(.policy) }  // [hello.mode] [enc.required]
        guard channel.fingerprint == known.data.fingerprint || !channel.isEncrypted else {
            return refuse(.policy)  // [hello.key]
        }
        guard channel.proves(hello.sender.uid) else { return refuse(.policy) }  // [uid.proof]
        return .success(Found(expectedPeer: known, issued: issued))
    }

    /// Returns whether both sides offered the mesh, and no secret of an encrypting session would be sent unencrypted.
    /// [mesh.link] [mesh.plain]
    private func joins(_ peer: ExpectedPeer, with issued: ConnectionData) -> Bool {
        let data = peer.data
        guard data.flags.contains(.mesh), issued.flags.contains(.mesh) else { return false }
        return channel.isEncrypted || (local.preference == .none && data.preference == .none)
    }

    private func refuse(_ code: CloseCode) -> Result<Found, Refusal> { .failure(Refusal(code: code)) }

    private mutating func greet(
        _ expectedPeer: ExpectedPeer, with issued: ConnectionData, _ meshSnapshot: MeshSnapshot,
        grease: UInt64
    ) -> Action {
        // [hello.members]
        let listed = joins(expectedPeer, with: issued) ? meshSnapshot.listed(for: expectedPeer.endpoint) : []
        let hello = Hello(
            versions: [Grease.version(grease)] + Hello.spoken,  // [ext.versions] [ext.grease]
            sender: local.endpoint, receiver: expectedPeer.endpoint,
            myDataReference: issued.reference, yourDataReference: expectedPeer.data.reference, nonce: nonce,
            limits: local.limits, members: listed,
            agent: local.agent)
        named = issued.reference
        var buffer = ByteBuffer()
        hello.encode(into: &buffer, grease: grease)  // [tlv.grease]
        ownHello = buffer.takeAll()
        return .send(ownHello)
    }

    private func isGenuine(_ received: [UInt8]) -> Bool {
        let other: Role = role == .initiator ? .responder : .initiator
        return constantTimeEqual(received, mac(as: other))  // [confirm.mac] [confirm.role]
    }

    private func mac(as sender: Role) -> [UInt8] {
        guard let key else { return [] }
        return LinkConfirmation.mac(of: sender, key: key, transcript: transcript, binding: channel.binding)
    }

    private static func frame(_ kind: FrameKind, _ payload: Span<UInt8>) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.appendFrame(kind, payload: payload)
        return buffer.takeAll()
    }
}
