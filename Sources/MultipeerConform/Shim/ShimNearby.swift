import Multipeer

/// Advertising, browsing and invitations of a session of a shim.
@ShimActor
final class ShimNearby {
    private let context: ShimContext
    private var advertiser: Advertiser?
    private var browser: Browser?
    private var invitations: [Int: Invitation] = [:]
    private var inviting: [UID: Task<Void, Never>] = [:]

    init(_ context: ShimContext) { self.context = context }

    func stop() async {
        let (advertiser, browser) = (advertiser.take(), browser.take())
        await advertiser?.stop()
        await browser?.stop()
    }

    private static func service(_ request: inout ShimRequest) throws(ShimFault) -> String {
        try request.text("type") ?? "conform"
    }

    private static func discovery(_ request: inout ShimRequest) throws(ShimFault) -> ShimDiscovery {
        let usesMulticast = try request.word("discovery", ["none": false, "multicast": true]) ?? false
        do throws(MultipeerError) {
            return try ShimDiscovery(usesMulticast: usesMulticast)
        } catch {
            throw .failed(ShimReason(error))
        }
    }
}

// MARK: advertising

extension ShimNearby {
    func advertise(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let service = try ShimNearby.service(&request)
        let info = try request.dictionary("info") ?? [:]
        let code = try ShimNearby.code(&request)
        let isRepeated = try request.word("validity", ["once": false, "repeated": true]) ?? false
        let discovery = try ShimNearby.discovery(&request)
        try request.end()
        await advertiser.take()?.stop()
        let (peer, identity) = (context.session.peer, context.session.configuration.identity)
        let advertiser = try await ShimFault.translating { () async throws(MultipeerError) in
            let advertiser = try Advertiser(
                peer: peer, service: service, info: info, identity: identity, code: code,
                validity: isRepeated ? .repeated : .once, configuration: discovery.configuration)
            try await advertiser.start()
            return advertiser
        }
        self.advertiser = advertiser
        let invitations = advertiser.invitations
        context.keep(
            Task { for await invitation in invitations { await self.hear(invitation) } })
        let codeEvents = advertiser.codeEvents
        context.keep(Task { for await event in codeEvents { await self.hear(event) } })
        let txt = info.merging(["mpc": "1", "n": peer.displayName]) { $1 }
        return [
            "port": discovery.advertisement.map { .integer(Int($0.port)) },
            "txt": .object(txt.mapValues { .text($0) }),
        ]
    }

    private static func code(_ request: inout ShimRequest) throws(ShimFault) -> InvitationCode? {
        guard let text = try request.text("code") else { return nil }
        do throws(MultipeerError) { return try InvitationCode(text) } catch {
            throw .failed(ShimReason(error))
        }
    }

    private func hear(_ event: Advertiser.CodeEvent) async {
        guard case .wrongGuess(_, let count, let endsCode) = event else { return }
        await context.pipe.tell(
            "code-guess", of: context.name, ["count": .integer(count), "last": .flag(endsCode)])
    }

    private func hear(_ invitation: Invitation) async {
        let id = context.pipe.number()
        invitations[id] = invitation
        await context.pipe.tell(
            "invitation", of: context.name,
            [
                "invitation": .integer(id), "from": .hex(invitation.inviter.uid.bytes),
                "name": .text(invitation.inviter.displayName), "context": invitation.context.map { .hex($0) },
                "timeout": .seconds(invitation.timeout),
            ])
        context.keep(
            Task {
                await invitation.waitUntilEnded()
                await context.pipe.tell("invitation-end", of: context.name, ["invitation": .integer(id)])
            })
    }

    func stopAdvertising(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        try request.end()
        await advertiser.take()?.stop()
        return [:]
    }

    func answer(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let id = try request.required("invitation", try request.count("invitation"))
        let isYes = try request.required("accept", try request.flag("accept"))
        try request.end()
        guard let invitation = invitations[id] else {
            throw .invalid("there was no invitation \(id)")
        }
        context.keep(
            Task {
                var fields: [String: ShimValue?] = ["result": .text(CloseCode.ok.name)]
                do throws(MultipeerError) {
                    if isYes {
                        try await invitation.accept(into: context.session)
                    } else {
                        try await invitation.decline()
                    }
                } catch {
                    fields = ShimReason(error).result
                }
                fields["invitation"] = .integer(id)
                await context.pipe.tell("answer-result", of: context.name, fields)
            })
        return [:]
    }
}

// MARK: browsing and inviting

extension ShimNearby {
    func browse(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let service = try ShimNearby.service(&request)
        let discovery = try ShimNearby.discovery(&request)
        try request.end()
        await browser.take()?.stop()
        let browser = try await ShimFault.translating { () async throws(MultipeerError) in
            let browser = try Browser(
                peer: context.session.peer, service: service, configuration: discovery.configuration)
            try await browser.start()
            return browser
        }
        self.browser = browser
        let events = browser.events
        context.keep(Task { for await event in events { await self.hear(event) } })
        return [:]
    }

    private func hear(_ event: DiscoveredPeer.Event) async {
        switch event {
        case .found(let found), .updated(let found):
            await context.pipe.tell(
                "found", of: context.name,
                [
                    "peer": .hex(found.peer.uid.bytes), "name": .text(found.peer.displayName),
                    "info": .object(found.info.mapValues { .text($0) }),
                ])
        case .lost(let peer):
            await context.pipe.tell(
                "lost", of: context.name, ["peer": .hex(peer.uid.bytes), "name": .text(peer.displayName)])
        }
    }

    func stopBrowsing(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        try request.end()
        await browser.take()?.stop()
        return [:]
    }

    /// Invites a peer, at the addresses in the request or at those that the running browser finds; without a peer, the
    /// one that listens at an address.
    func invite(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let name = try request.text("name") ?? "peer"
        let named = try request.peer("peer", called: name)
        let addresses = try request.addresses("at")
        let service = try ShimNearby.service(&request)
        let invitationContext = try request.bytes("context")
        let timeout = try request.seconds("timeout") ?? .seconds(30)
        let code = try ShimNearby.code(&request)
        try request.end()
        guard let peer = named else {
            let places = try request.required("at", addresses)
            return try invite(at: places, service, code, invitationContext, timeout)
        }
        let browser =
            if let addresses {
                try self.browser(placing: peer, at: addresses, service)
            } else {
                try request.required("at", self.browser)
            }
        let task = Task {
            let result = await browser.invite(
                known: peer, to: self.context.session, code: code, context: invitationContext,
                timeout: timeout)
            var fields: [String: ShimValue?] = ["result": .text(CloseCode.ok.name)]
            if case .failure(let error) = result { fields = ShimReason(error).result }
            fields["peer"] = .hex(peer.uid.bytes)
            await context.pipe.tell("invite-result", of: context.name, fields)
        }
        inviting[peer.uid] = task
        context.keep(task)
        return [:]
    }

    private func invite(
        at addresses: [SocketAddress], _ service: String, _ code: InvitationCode?, _ context: [UInt8]?,
        _ timeout: Duration
    ) throws(ShimFault) -> [String: ShimValue?] {
        let session = self.context.session
        let browser: Browser
        do throws(MultipeerError) {
            let discovery = try ShimDiscovery(usesMulticast: false)
            browser = try Browser(
                peer: session.peer, service: service, configuration: discovery.configuration)
        } catch {
            throw .failed(ShimReason(error))
        }
        self.context.keep(
            Task {
                var fields: [String: ShimValue?]
                do throws(MultipeerError) {
                    let peer = try await browser.invite(
                        at: addresses, to: session, code: code, context: context, timeout: timeout)
                    fields = ["result": .text(CloseCode.ok.name), "peer": .hex(peer.uid.bytes)]
                } catch {
                    fields = ShimReason(error).result
                }
                await self.context.pipe.tell("invite-result", of: self.context.name, fields)
            })
        return [:]
    }

    /// Returns a browser that knows the peer's addresses, and does not browse.
    private func browser(
        placing peer: PeerID, at addresses: [SocketAddress], _ service: String
    ) throws(ShimFault) -> Browser {
        do throws(MultipeerError) {
            let discovery = try ShimDiscovery(usesMulticast: false)
            discovery.place(peer, at: addresses)
            return try Browser(
                peer: context.session.peer, service: service, configuration: discovery.configuration)
        } catch {
            throw .failed(ShimReason(error))
        }
    }

    func withdraw(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        inviting[peer.uid]?.cancel()
        return [:]
    }
}
