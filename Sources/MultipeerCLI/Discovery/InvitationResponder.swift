import MultipeerCommandLine
package import MultipeerEssentials

/// One event of `multipeer advertise`: a line of JSON, or tab-separated fields.
package struct AdvertiseLine: Encodable, Sendable {
    package enum Event: String, Encodable, Sendable {
        case invited, declined, linked, ended
    }

    let event: Event
    /// All digits of the inviter's id.
    let id: String
    let name: String
    /// The invitation's context, decoded as text.
    var context: String?
    /// Why an invitation failed, or a link ended.
    var reason: String?
    /// Whether another peer has sent an invitation with the same id; nil for other events.
    var contested: Bool?

    package init(
        _ event: Event, _ peer: PeerID, context: [UInt8]? = nil, reason: String? = nil, contested: Bool? = nil
    ) {
        self.contested = contested
        self.event = event
        id = peer.id
        name = peer.displayName
        self.context = context.map { String(decoding: $0, as: UTF8.self) }
        self.reason = reason
    }

    private static let mostShown = 200

    package var text: String {
        let remark = String((context ?? reason ?? "").prefix(AdvertiseLine.mostShown)).printable
        let fields = [event.rawValue, id, name.printable, remark] + (contested == true ? ["contested"] : [])
        return fields.joined(separator: "\t")
    }
}

/// Advertises a peer, and answers invitations.
actor InvitationResponder {
    private let options: DiscoveryOptions
    private let advertiser: Advertiser
    /// The session that inviters are linked with; nil when all are declined.
    private let session: Session?
    private let isJSON: Bool
    private let output = Worker("output")
    private let outcome = Promise<CommandError?>()

    init(
        _ own: PeerOptions, _ info: DiscoveryInfo, _ options: DiscoveryOptions, _ port: SharedPort,
        isAccepting: Bool, isJSON: Bool
    ) throws(CommandError) {
        self.options = options
        self.isJSON = isJSON
        var discovery = options.configuration
        discovery.sharedPort = port
        advertiser = Advertiser(
            peer: own.peer, service: options.service, info: info, identity: own.identity,
            configuration: discovery)
        var configuration = Session.Configuration(identity: own.identity)
        configuration.listenAddresses = options.selectedInterfaces.listenAddresses
        configuration.overrides.sharedPort = port
        configuration.topology = .star
        configuration.maximumMessageSize = 65_536
        configuration.keyLog = options.keyLog
        session = try CommandError.translating { [configuration] () throws(MultipeerError) in
            isAccepting ? try Session(peer: own.peer, configuration: configuration) : nil
        }
    }

    /// Runs until the time has elapsed.
    func run(for time: Duration?) async throws(CommandError) {
        try await CommandError.translating { () async throws(MultipeerError) in try await advertiser.start() }
        DuplicateID.watch(advertiser)
        let place = await ListeningPlace(of: advertiser, at: options.selectedInterfaces.listenAddresses)
        for line in place.lines(isVerbose: false) { Terminal.say(line) }
        Terminal.say("announcing \(advertiser.peer.introduction) as \(options.service) \(options.place)")
        var tasks = [Task { await self.answer() }]
        if let session { tasks.append(Task { await self.watch(session) }) }
        if let time {
            tasks.append(
                Task { [outcome] in
                    try? await Task.sleep(for: time)
                    outcome.send(nil)
                })
        }
        let commandError = await outcome.value()
        for task in tasks { task.cancel() }
        if let commandError { throw commandError }
    }

    private func answer() async {
        for await invitation in advertiser.invitations {
            let line = AdvertiseLine(
                .invited, invitation.inviter, context: invitation.context, contested: invitation.isContested)
            await put(line)
            Task { await self.answer(invitation) }
        }
    }

    private func answer(_ invitation: Invitation) async {
        do throws(MultipeerError) {
            guard let session else {
                try await invitation.decline()
                return await put(AdvertiseLine(.declined, invitation.inviter))
            }
            try await invitation.accept(into: session)
        } catch {
            await put(AdvertiseLine(.ended, invitation.inviter, reason: error.description))
        }
    }

    /// Reports links; discards all other events.
    private func watch(_ session: Session) async {
        for await event in session.events {
            switch event {
            case .peer(let peer, .connected): await put(AdvertiseLine(.linked, peer))
            case .peer(let peer, .notConnected(let reason)):
                await put(AdvertiseLine(.ended, peer, reason: "\(reason)"))
            default: break
            }
        }
    }

    private func put(_ line: AdvertiseLine) async {
        do throws(CommandError) {
            let text = isJSON ? try JSON.encode(line, isPretty: false) : Array("\(line.text)\n".utf8)
            try await output.run { () throws(CommandError) in try Terminal.put(text) }
        } catch {
            outcome.send(error)
        }
    }

    /// Stops advertising, and disconnects from all peers gracefully.
    func close() async {
        await advertiser.stop()
        await session?.disconnect()
    }
}
