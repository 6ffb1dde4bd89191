/// The tester's peer: its identity, its listener, the connection data that it issues. It does nothing by itself.
final class Tester {
    let caseRun: CaseRun
    var endpoint: Endpoint
    let name: String
    var preference: Preference
    /// Nil with preference none.
    var identity: TLSIdentity?
    /// What it presents in invitations; nil for a new key each time.
    var invitationIdentity: TLSIdentity?
    /// Flags of the connection data that it issues.
    var flags: UInt8 = 0
    var limits = Limits()
    /// The component that its HELLO lists.
    var members: [Endpoint] = []
    let listener: TCPSocket
    private let address: [UInt8]
    /// The interface of a link-local address.
    private let zone: UInt32
    private let doorbell: TesterListener

    init(
        _ name: String, uid: [UInt8], preference: Preference, address: [UInt8] = [127, 0, 0, 1],
        zone: UInt32 = 0, port: UInt16 = 0, in caseRun: CaseRun
    ) throws {
        self.caseRun = caseRun
        self.name = name
        self.preference = preference
        endpoint = Endpoint(uid: uid, instance: caseRun.random.bytes(8))
        identity = preference == .none ? nil : try TLSIdentity()
        (self.address, self.zone) = (address, zone)
        listener = try TCPSocket.listening(on: address, port: port, zone: zone)
        doorbell = TesterListener(listener)
        caseRun.loop.add(doorbell)
        caseRun.log.add(.note, "\(name) is \(uid.hex) and listens on port \(listener.localPort)")
    }

    deinit { caseRun.loop.remove(doorbell) }

    var candidate: Candidate { Candidate(address: address, port: listener.localPort) }

    /// Returns the connection data of this tester, which a case may change before it is written.
    func data(for recipient: [UInt8]?) -> ConnectionData {
        ConnectionData(
            flags: flags, endpoint: endpoint, name: Array(name.utf8), preference: preference,
            fingerprint: identity?.fingerprint, token: caseRun.random.bytes(32), recipient: recipient,
            candidates: [candidate])
    }

    /// Restarts the same peer: another instance, so another endpoint. Spec 3.2.
    func restart() { endpoint.instance = caseRun.random.bytes(8) }

    // MARK: Connections

    /// Dials the subject at the address that its data names.
    ///
    /// * `tls`: how the TLS end behaves; nil for what the outcome demands.
    /// * `plain`: dials without TLS, whatever the outcome is.
    /// * `source`: the address that it dials from.
    /// * `isNarrow`: with small segments and buffers, so that the kernels hold little of what is not read.
    func dial(
        _ linkParameters: LinkParameters, tls setup: TLSEnd.Setup? = nil, plain: Bool = false,
        from source: [UInt8]? = nil,
        sendsPreface: Bool = true, isNarrow: Bool = false
    ) throws -> TesterLink {
        // Of the same family as the tester's own.
        let places = linkParameters.theirData.candidates
        let size = address.count
        guard var candidate = places.first(where: { $0.address.count == size }) ?? places.first else {
            throw Skip("the subject listens nowhere")
        }
        candidate.zone = zone
        let socket = try TCPSocket.dialling(candidate, from: source, isNarrow: isNarrow)
        let end = plain ? nil : try setup.map(TLSEnd.init) ?? ownTLS(linkParameters, isServer: false)
        return TesterLink(socket, .initiator, end, linkParameters, in: caseRun, sendsPreface: sendsPreface)
    }

    /// Waits for the next connection that the subject makes; returns nil when none comes in time.
    func accept(
        _ linkParameters: LinkParameters, within duration: Duration = .seconds(10),
        tls setup: TLSEnd.Setup? = nil,
        plain: Bool = false, sendsPreface: Bool = true
    ) throws -> TesterLink? {
        caseRun.loop.wait(duration) { !doorbell.waiting.isEmpty }
        guard !doorbell.waiting.isEmpty else { return nil }
        let socket = doorbell.waiting.removeFirst()
        let end = plain ? nil : try setup.map(TLSEnd.init) ?? ownTLS(linkParameters, isServer: true)
        return TesterLink(socket, .responder, end, linkParameters, in: caseRun, sendsPreface: sendsPreface)
    }

    /// Waits for the next connection that the subject makes, which must come.
    func accepted(
        _ linkParameters: LinkParameters, within duration: Duration = .seconds(10),
        tls setup: TLSEnd.Setup? = nil,
        plain: Bool = false, sendsPreface: Bool = true
    ) throws -> TesterLink {
        let link = try accept(
            linkParameters, within: duration, tls: setup, plain: plain, sendsPreface: sendsPreface)
        guard let link else { throw CaseFailure("the subject does not dial within \(duration)") }
        return link
    }

    /// The number of connections of the subject that wait to be accepted.
    var callers: Int { doorbell.waiting.count }
    /// When each of them came, including those that were accepted.
    var calls: [ContinuousClock.Instant] { doorbell.times }

    /// Closes the connections that wait to be accepted.
    func dismissCallers() { doorbell.waiting.removeAll() }

    /// Returns the TLS settings of a tester that makes no mistake.
    func setup(isServer: Bool) -> TLSEnd.Setup { TLSEnd.Setup(isServer: isServer, identity: identity) }

    private func ownTLS(_ linkParameters: LinkParameters, isServer: Bool) throws -> TLSEnd? {
        let mine = preference.counted(withIdentity: flags & ConnectionData.Flag.identity != 0)
        switch mine.outcome(with: linkParameters.theirData.outcomePreference) {
        case .tls: return try TLSEnd(setup(isServer: isServer))
        case .plain: return nil
        case .refused: throw SuiteFault("the case links two peers whose preferences exclude each other")
        }
    }

    /// Makes a complete link, dialled by the end that has to dial.
    func link(_ linkParameters: LinkParameters, within duration: Duration = .seconds(10)) throws -> TesterLink
    {
        let link =
            linkParameters.isControlling
            ? try dial(linkParameters) : try accepted(linkParameters, within: duration)
        try link.complete(within: duration)
        return link
    }
}

/// Takes connections as they come, so that each gets its time.
private final class TesterListener: PollSource {
    private let listener: TCPSocket
    var waiting: [TCPSocket] = []
    private(set) var times: [ContinuousClock.Instant] = []

    init(_ listener: TCPSocket) { self.listener = listener }

    var descriptor: Int32 { listener.descriptor }
    var wantsToRead: Bool { true }
    var wantsToWrite: Bool { false }

    func move() {
        while let socket = listener.accept() {
            waiting.append(socket)
            times.append(.now)
        }
    }
}
