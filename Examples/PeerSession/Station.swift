import Foundation
import MultipeerConnectivity

/// Owns the framework's objects, the map of persons and peers, and the beginning and end of all of it.
///
/// ```
/// view ── Lobby (main actor) ── Station (this actor) ── Bridge (no isolation) ── the framework's queues
/// ```
///
/// Commands come in as calls with a person's id, and events go out as values.
actor Station {
    /// The events, in order. The stream ends when the station is closed and all peers are gone.
    nonisolated let happenings: AsyncStream<Happening>
    private let telling: AsyncStream<Happening>.Continuation

    private let bridge: Bridge
    private let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser
    private var directory = Directory()
    private var unanswered: [Question.ID: Bridge.Answer] = [:]
    private var isClosing = false

    init(name: String, service: String) {
        (happenings, telling) = AsyncStream.makeStream()
        let me = MCPeerID(displayName: name)
        bridge = Bridge()
        session = MCSession(peer: me)
        advertiser = MCNearbyServiceAdvertiser(peer: me, discoveryInfo: nil, serviceType: service)
        browser = MCNearbyServiceBrowser(peer: me, serviceType: service)
    }

    /// Goes online, and stays online until it is closed.
    func run() async {
        session.delegate = bridge
        advertiser.delegate = bridge
        browser.delegate = bridge
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
        for await report in bridge.reports {
            take(report)
            if isClosing && directory.isEmptyHanded { break }
        }
        telling.finish()
    }

    private func take(_ report: Bridge.Report) {
        switch report {
        case .found(let peer): telling.yield(.found(directory.person(peer)))
        case .lost(let peer): telling.yield(.lost(directory.person(peer)))
        case .invited(_, let answer) where isClosing: answer(false, nil)
        case .invited(let peer, let answer):
            let question = Question(person: directory.person(peer))
            unanswered[question.id] = answer
            telling.yield(.asked(question))
        case .changed(let peer, let state): telling.yield(.changed(directory.note(state, of: peer)))
        case .received(let data, let peer):
            telling.yield(.said(directory.person(peer), String(decoding: data, as: UTF8.self).printable))
        case .failed(let what): telling.yield(.failed(what))
        case .closed: break
        }
    }

    /// Invites a person who was found into the session.
    func invite(_ id: Person.ID) {
        guard let peer = directory.peer(id), !isClosing else { return }
        browser.invitePeer(peer, to: session, withContext: nil, timeout: 30)
    }

    /// Answers an invitation: at any time, and once. An inviter that gets no answer gives up by itself.
    func answer(_ id: Question.ID, _ isYes: Bool) throws(AnsweredBefore) {
        guard let answer = unanswered.removeValue(forKey: id) else { throw AnsweredBefore() }
        answer(isYes, isYes ? session : nil)
    }

    /// Sends a text to all persons who are linked.
    func say(_ text: String) throws {
        let peers = session.connectedPeers
        guard !peers.isEmpty else { return }
        try session.send(Data(text.utf8), toPeers: peers, with: .reliable)
    }

    /// Declines open invitations, and leaves; `happenings` ends when all peers are notified.
    func close() {
        guard !isClosing else { return }
        isClosing = true
        for answer in unanswered.values { answer(false, nil) }
        unanswered = [:]
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
        bridge.close()
    }
}
