import MultipeerConnectivity

// Invitations: sending them, answering them, and storing handlers until the user has decided.

// idiom: a browser delegate that invites every peer

final class Inviter: NSObject, MCNearbyServiceBrowserDelegate {
    let session: MCSession
    init(session: MCSession) { self.session = session }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        guard peerID != browser.myPeerID, !session.connectedPeers.contains(peerID) else { return }
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 30)
    }

    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: an encoded value as the context of an invitation

struct InvitationContext: Codable {
    var room: String
    var password: String?
}

func invite(_ peer: MCPeerID, to session: MCSession, of browser: MCNearbyServiceBrowser, room: String) {
    let context = try? JSONEncoder().encode(InvitationContext(room: room))
    browser.invitePeer(peer, to: session, withContext: context, timeout: TimeInterval(20))
}

// idiom: the context decides whether an invitation is accepted

final class PasswordDoor: NSObject, MCNearbyServiceAdvertiserDelegate {
    let session: MCSession
    let password: String

    init(session: MCSession, password: String) { (self.session, self.password) = (session, password) }

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        let asked = context.flatMap { try? JSONDecoder().decode(InvitationContext.self, from: $0) }
        let isRight = asked?.password == password
        invitationHandler(isRight, isRight ? session : nil)
    }
}

// idiom: invitation handlers are stored until the user decides

final class QuestionList: NSObject, MCNearbyServiceAdvertiserDelegate {
    private(set) var questions: [(peer: MCPeerID, answer: (Bool, MCSession?) -> Void)] = []

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) { questions.append((peerID, invitationHandler)) }

    func answer(_ peer: MCPeerID, with session: MCSession?) {
        questions.filter { $0.peer == peer }.forEach { $0.answer(session != nil, session) }
        questions.removeAll { $0.peer == peer }
    }
}

// idiom: one pending question as an optional closure

final class OneQuestion: NSObject, MCNearbyServiceAdvertiserDelegate {
    private var handler: ((Bool, MCSession?) -> Void)?
    private(set) var asking: MCPeerID?

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        handler?(false, nil)
        (handler, asking) = (invitationHandler, peerID)
    }

    func accept(into session: MCSession) {
        handler?(true, session)
        (handler, asking) = (nil, nil)
    }
}

// idiom: a pending invitation as an Identifiable value

struct PendingInvitation: Identifiable, Equatable {
    let id = UUID()
    let peer: MCPeerID
    let received = Date()
    let respond: (Bool, MCSession?) -> Void

    var isExpired: Bool { Date().timeIntervalSince(received) > 30 }

    static func == (left: PendingInvitation, right: PendingInvitation) -> Bool { left.id == right.id }
}

// idiom: an invitation handler without @escaping

final class FriendsOnly: NSObject, MCNearbyServiceAdvertiserDelegate {
    var friends: Set<String> = []
    weak var session: MCSession?

    func advertiser(
        _: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext _: Data?,
        invitationHandler: (Bool, MCSession?) -> Void
    ) { invitationHandler(friends.contains(peerID.displayName), session) }
}

// idiom: a minimum interval between invitations of one peer

struct InvitationLimit {
    private var last: [MCPeerID: Date] = [:]
    var interval: TimeInterval = 8

    mutating func allows(_ peer: MCPeerID, now: Date = Date()) -> Bool {
        if let last = last[peer], now.timeIntervalSince(last) < interval { return false }
        last[peer] = now
        return true
    }
}

// idiom: a session of its own for each peer

final class SessionPerPeer {
    private let me: MCPeerID
    private(set) var sessions: [MCPeerID: MCSession] = [:]

    init(me: MCPeerID) { self.me = me }

    func session(for peer: MCPeerID) -> MCSession {
        if let session = sessions[peer] { return session }
        let session = MCSession(peer: me, securityIdentity: nil, encryptionPreference: .required)
        sessions[peer] = session
        return session
    }

    func close(_ peer: MCPeerID) { sessions.removeValue(forKey: peer)?.disconnect() }
}
