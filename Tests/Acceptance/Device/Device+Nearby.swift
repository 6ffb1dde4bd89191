import MultipeerConnectivity

/// The answer to an invitation.
enum InvitationAnswer: String {
    case yes, no, never
    /// Yes, and the advertiser is stopped inside the delegate call.
    case stop
    /// By a later command, from the thread that executes commands.
    case later
    /// Yes, without a session to join.
    case nowhere
}

/// Commands for browsing and advertising.
extension Device {
    func nearby(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "advertise": try advertise(try words.needed(0, "a service type"), words.dropFirst(1))
        case "start-advertising": start(try advertiser)
        case "stop-advertising": try advertiser.stopAdvertisingPeer()
        case "release-advertiser": with { $0.advertiser = nil }
        case "browse": try browse(try words.needed(0, "a service type"))
        case "start-browsing": start(try browser)
        case "stop-browsing": try browser.stopBrowsingForPeers()
        case "answer":
            let answer = try words.choice(0, InvitationAnswer.self)
            with { $0.answer = answer }
        case "reply": try reply(try words.needed(0, "a peer"), words.dropFirst(1))
        case "invite-all":
            let timeout = words[0].flatMap(TimeInterval.init) ?? 30
            with { $0.invites = timeout }
        case "invite": return try invite(words)
        default: return nil
        }
        return [:]
    }

    private func advertise(_ type: String, _ pairs: [String]) throws {
        let info = Dictionary(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }, uniquingKeysWith: { _, last in last })
        let advertiser = MCNearbyServiceAdvertiser(
            peer: try me, discoveryInfo: info.isEmpty ? nil : info, serviceType: type)
        advertiser.delegate = self
        advertiser.delegateCallQueue = discoveryQueue
        with { $0.advertiser = advertiser }
        start(advertiser)
    }

    private func browse(_ type: String) throws {
        let browser = MCNearbyServiceBrowser(peer: try me, serviceType: type)
        browser.delegate = self
        browser.delegateCallQueue = discoveryQueue
        with { $0.browser = browser }
        start(browser)
    }

    /// Starts an advertiser, whose delegate must not be called before this has returned.
    private func start(_ advertiser: MCNearbyServiceAdvertiser) {
        with { $0.starting = ObjectIdentifier(advertiser) }
        advertiser.startAdvertisingPeer()
        with { $0.starting = nil }
    }

    private func start(_ browser: MCNearbyServiceBrowser) {
        with { $0.starting = ObjectIdentifier(browser) }
        browser.startBrowsingForPeers()
        with { $0.starting = nil }
    }

    private var advertiser: MCNearbyServiceAdvertiser {
        get throws {
            guard let advertiser = with({ $0.advertiser }) else { throw Complaint("not advertising") }
            return advertiser
        }
    }

    private var browser: MCNearbyServiceBrowser {
        get throws {
            guard let browser = with({ $0.browser }) else { throw Complaint("not browsing") }
            return browser
        }
    }

    /// `invite PEER [SECONDS [CONTEXT]]`
    private func invite(_ words: Words) throws -> Fields {
        let timeout = words[1].flatMap(TimeInterval.init) ?? 30
        let context = words[2].map { Data($0.utf8) }
        let peer = try peer(try words.needed(0, "a peer"))
        try browser.invitePeer(peer, to: session, withContext: context, timeout: timeout)
        return [:]
    }

    /// `reply PEER yes|no…`: one call of the handler for each word.
    private func reply(_ word: String, _ answers: [String]) throws {
        let (peer, session) = (try peer(word), try session)
        guard let handler = with({ $0.invitations.removeValue(forKey: peer.mark) }) else {
            throw Complaint("no open invitation from \(word)")
        }
        for answer in answers { handler(answer == "yes", answer == "yes" ? session : nil) }
    }
}

extension Device: MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping @Sendable (Bool, MCSession?) -> Void
    ) {
        let (answer, session) = with { ($0.answer, $0.session) }
        heard("invited", advertiser) {
            if answer == .later { with { $0.invitations[peerID.mark] = invitationHandler } }
            var fields = note(peerID)
            fields["context"] = context.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
            return fields
        }
        switch answer {
        case .yes: invitationHandler(true, session)
        case .no: invitationHandler(false, nil)
        case .nowhere: invitationHandler(true, nil)
        case .stop:
            invitationHandler(true, session)
            advertiser.stopAdvertisingPeer()
        case .later, .never: break
        }
    }

    func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
        heard("not-advertising", advertiser) { fields(of: error) }
    }
}

extension Device: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        heard("found", browser) {
            note(peerID).merging(["info": info ?? ["": "nil"]]) { old, _ in old }
        }
        let (timeout, session) = with { ($0.invites, $0.session) }
        guard let timeout, let session else { return }
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: timeout)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        heard("lost", browser) { note(peerID) }
    }

    func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
        heard("not-browsing", browser) { fields(of: error) }
    }
}
