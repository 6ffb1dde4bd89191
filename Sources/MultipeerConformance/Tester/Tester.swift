/// The tester's peer: who it is, where it listens, what it issues. It does nothing by itself.
final class Tester {
    let trial: Trial
    var endpoint: Endpoint
    let name: String
    var preference: Preference
    /// Nil with preference none.
    var identity: TLSIdentity?
    /// Flags of the connection data that it issues.
    var flags: UInt8 = 0
    var limits = Limits()
    /// The component that its HELLO lists.
    var members: [Endpoint] = []
    let listener: TCPSocket
    private let doorbell: Doorbell

    init(
        _ name: String, uid: [UInt8], preference: Preference, address: [UInt8] = [127, 0, 0, 1],
        port: UInt16 = 0, in trial: Trial
    ) throws {
        self.trial = trial
        self.name = name
        self.preference = preference
        endpoint = Endpoint(uid: uid, instance: trial.random.bytes(8))
        identity = preference == .none ? nil : try TLSIdentity()
        listener = try TCPSocket.listening(on: address, port: port)
        doorbell = Doorbell(listener)
        trial.pump.add(doorbell)
        trial.log.add(.note, "\(name) is \(uid.hex) and listens on port \(listener.localPort)")
    }

    deinit { trial.pump.remove(doorbell) }

    var candidate: Candidate { .loopback(listener.localPort) }

    /// Connection data of this tester, ready to be changed before it is written.
    func data(for recipient: [UInt8]?) -> ConnectionData {
        ConnectionData(
            flags: flags, endpoint: endpoint, name: Array(name.utf8), preference: preference,
            fingerprint: identity?.fingerprint, token: trial.random.bytes(32), recipient: recipient,
            candidates: [candidate])
    }

    /// A new run of the same peer: another instance, so another endpoint. Spec 3.2.
    func restart() { endpoint.instance = trial.random.bytes(8) }

    // MARK: Connections

    /// Dials the subject where it says that it listens.
    ///
    /// * `tls`: how the TLS end behaves; nil for what the outcome demands.
    /// * `plain`: dials without TLS, whatever the outcome is.
    /// * `source`: the address that it dials from.
    func dial(
        _ terms: Terms, tls setup: TLSEnd.Setup? = nil, plain: Bool = false, from source: [UInt8]? = nil,
        sendsPreface: Bool = true
    ) throws -> Link {
        guard let candidate = terms.theirData.candidates.first(where: { $0.address.count == 4 }) else {
            throw Skip("the subject listens on no IPv4 address")
        }
        let socket = try TCPSocket.dialling(candidate, from: source)
        let end = plain ? nil : try setup.map(TLSEnd.init) ?? ownTLS(terms, isServer: false)
        return Link(socket, .initiator, end, terms, in: trial, sendsPreface: sendsPreface)
    }

    /// The next connection that the subject makes; nil when none comes in time.
    func accept(
        _ terms: Terms, within duration: Duration = .seconds(10), tls setup: TLSEnd.Setup? = nil,
        plain: Bool = false, sendsPreface: Bool = true
    ) throws -> Link? {
        trial.pump.wait(duration) { !doorbell.waiting.isEmpty }
        guard !doorbell.waiting.isEmpty else { return nil }
        let socket = doorbell.waiting.removeFirst()
        let end = plain ? nil : try setup.map(TLSEnd.init) ?? ownTLS(terms, isServer: true)
        return Link(socket, .responder, end, terms, in: trial, sendsPreface: sendsPreface)
    }

    /// The next connection that the subject makes, which must come.
    func accepted(
        _ terms: Terms, within duration: Duration = .seconds(10), tls setup: TLSEnd.Setup? = nil,
        plain: Bool = false, sendsPreface: Bool = true
    ) throws -> Link {
        let link = try accept(terms, within: duration, tls: setup, plain: plain, sendsPreface: sendsPreface)
        guard let link else { throw Failure("the subject does not dial within \(duration)") }
        return link
    }

    /// How many connections of the subject stand at the door.
    var callers: Int { doorbell.waiting.count }
    /// When each of them came, those that were accepted too.
    var calls: [ContinuousClock.Instant] { doorbell.times }

    /// Sends away who stands at the door.
    func dismissCallers() { doorbell.waiting.removeAll() }

    /// How this tester behaves in TLS if nothing is to be wrong.
    func setup(isServer: Bool) -> TLSEnd.Setup { TLSEnd.Setup(isServer: isServer, identity: identity) }

    private func ownTLS(_ terms: Terms, isServer: Bool) throws -> TLSEnd? {
        let mine = preference.counted(withIdentity: flags & ConnectionData.Flag.identity != 0)
        switch mine.outcome(with: terms.theirData.outcomePreference) {
        case .tls: return try TLSEnd(setup(isServer: isServer))
        case .plain: return nil
        case .refused: throw SuiteFault("the case links two peers whose preferences exclude each other")
        }
    }

    /// A complete link, dialled by whoever has to dial.
    func link(_ terms: Terms, within duration: Duration = .seconds(10)) throws -> Link {
        let link = terms.isControlling ? try dial(terms) : try accepted(terms, within: duration)
        try link.complete(within: duration)
        return link
    }
}

/// Takes connections as they come, so that each is stamped with its time.
private final class Doorbell: Source {
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
