import Foundation
import Multipeer

// MARK: being found, finding, inviting

extension Shim {
    private func service(_ request: inout ShimRequest) throws(ShimFault) -> String {
        try request.text("type") ?? "conform"
    }

    private func discovery(_ request: inout ShimRequest) throws(ShimFault) -> ShimDiscovery {
        let usesMulticast = try request.word("discovery", ["none": false, "multicast": true]) ?? false
        do throws(MultipeerError) {
            return try ShimDiscovery(usesMulticast: usesMulticast)
        } catch {
            throw .failed(ShimReason(error))
        }
    }

    func advertise(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let service = try service(&request)
        let info = try request.dictionary("info") ?? [:]
        let discovery = try discovery(&request)
        try request.end()
        await subject.things.withLock { $0.advertiser.take() }?.stop()
        let peer = subject.session.peer
        let advertiser = try await ShimFault.translating { () async throws(MultipeerError) in
            let advertiser = try Advertiser(
                peer: peer, service: service, info: info, configuration: discovery.configuration)
            try await advertiser.start()
            return advertiser
        }
        subject.things.withLock { $0.advertiser = advertiser }
        let invitations = advertiser.invitations
        subject.keep(
            Task { for await invitation in invitations { await self.hear(invitation, of: subject) } })
        let txt = info.merging(["mpc": "1", "n": peer.displayName]) { $1 }
        return [
            "port": discovery.advertisement.map { .integer(Int($0.port)) },
            "txt": .object(txt.mapValues { .text($0) }),
        ]
    }

    private func hear(_ invitation: Invitation, of subject: ShimSubject) async {
        let id = number()
        subject.things.withLock { $0.invitations[id] = invitation }
        await tell(
            "invitation", of: subject,
            [
                "invitation": .integer(id), "from": .hex(invitation.inviter.uid.bytes),
                "name": .text(invitation.inviter.displayName), "context": invitation.context.map { .hex($0) },
                "timeout": .seconds(invitation.timeout),
            ])
        subject.keep(
            Task {
                await invitation.ended()
                await self.tell("invitation-end", of: subject, ["invitation": .integer(id)])
            })
    }

    func answerInvitation(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let id = try request.required("invitation", try request.count("invitation"))
        let isYes = try request.required("accept", try request.flag("accept"))
        try request.end()
        guard let invitation = subject.things.withLock({ $0.invitations[id] }) else {
            throw .invalid("there was no invitation \(id)")
        }
        subject.keep(
            Task {
                var fields: [String: ShimValue?] = ["result": .text(CloseCode.ok.name)]
                do throws(MultipeerError) {
                    if isYes {
                        try await invitation.accept(into: subject.session)
                    } else {
                        try await invitation.decline()
                    }
                } catch {
                    fields = ShimReason(error).result
                }
                fields["invitation"] = .integer(id)
                await self.tell("answer-result", of: subject, fields)
            })
        return [:]
    }

    func stopAdvertising(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        try request.end()
        await subject.things.withLock { $0.advertiser.take() }?.stop()
        return [:]
    }

    func browse(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let service = try service(&request)
        let discovery = try discovery(&request)
        try request.end()
        await subject.things.withLock { $0.browser.take() }?.stop()
        let browser = try await ShimFault.translating { () async throws(MultipeerError) in
            let browser = try Browser(
                peer: subject.session.peer, service: service, configuration: discovery.configuration)
            try await browser.start()
            return browser
        }
        subject.things.withLock { $0.browser = browser }
        let events = browser.events
        subject.keep(Task { for await event in events { await self.hear(event, of: subject) } })
        return [:]
    }

    private func hear(_ event: BrowserEvent, of subject: ShimSubject) async {
        switch event {
        case .found(let found), .updated(let found):
            await tell(
                "found", of: subject,
                [
                    "peer": .hex(found.peer.uid.bytes), "name": .text(found.peer.displayName),
                    "info": .object(found.info.mapValues { .text($0) }),
                ])
        case .lost(let peer):
            await tell("lost", of: subject, ["peer": .hex(peer.uid.bytes), "name": .text(peer.displayName)])
        }
    }

    func stopBrowsing(_ request: inout ShimRequest) async throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        try request.end()
        await subject.things.withLock { $0.browser.take() }?.stop()
        return [:]
    }

    /// At addresses that the request names, or where the running browser finds the peer.
    func invite(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let name = try request.text("name") ?? "peer"
        let peer = try request.required("peer", try request.peer("peer", called: name))
        let addresses = try request.addresses("at")
        let service = try service(&request)
        let context = try request.bytes("context")
        let timeout = try request.seconds("timeout") ?? .seconds(30)
        try request.end()
        let browser: Browser
        if let addresses {
            do throws(MultipeerError) {
                let discovery = try ShimDiscovery(usesMulticast: false)
                discovery.place(peer, at: addresses)
                browser = try Browser(
                    peer: subject.session.peer, service: service, configuration: discovery.configuration)
            } catch {
                throw .failed(ShimReason(error))
            }
        } else {
            browser = try request.required("at", subject.things.withLock { $0.browser })
        }
        let task = Task {
            let result = await browser.invite(
                known: peer, to: subject.session, context: context, timeout: timeout)
            var fields: [String: ShimValue?] = ["result": .text(CloseCode.ok.name)]
            if case .failure(let error) = result { fields = ShimReason(error).result }
            fields["peer"] = .hex(peer.uid.bytes)
            await self.tell("invite-result", of: subject, fields)
        }
        subject.things.withLock { $0.inviting[peer.uid] = task }
        subject.keep(task)
        return [:]
    }

    func withdraw(_ request: inout ShimRequest) throws(ShimFault) -> [String: ShimValue?] {
        let subject = try subject(of: &request)
        let peer = try request.required("peer", try request.peer("peer"))
        try request.end()
        subject.things.withLock { $0.inviting[peer.uid] }?.cancel()
        return [:]
    }
}
