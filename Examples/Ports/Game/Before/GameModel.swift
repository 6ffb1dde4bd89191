@preconcurrency import MultipeerConnectivity
import Observation

#if canImport(UIKit)
    import UIKit
#endif

/// A game in which everyone nearby plays: positions are sent unreliably, points reliably.
@MainActor @Observable final class GameModel: NSObject {
    struct Player {
        let name: String
        var state = PlayerState()
        var points = 0
    }

    private(set) var me: Player
    private(set) var others: [MCPeerID: Player] = [:]

    private nonisolated let session: MCSession
    private let advertiser: MCNearbyServiceAdvertiser
    private let browser: MCNearbyServiceBrowser
    #if canImport(UIKit)
        @ObservationIgnored private var frames: CADisplayLink?
    #endif

    init(name: String, serviceType: String = "acme-game") {
        let peer = MCPeerID(displayName: name)
        me = Player(name: name)
        session = MCSession(peer: peer, securityIdentity: nil, encryptionPreference: .required)
        advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: serviceType)
        browser = MCNearbyServiceBrowser(peer: peer, serviceType: serviceType)
        super.init()
        session.delegate = self
        advertiser.delegate = self
        browser.delegate = self
    }

    func start() {
        advertiser.startAdvertisingPeer()
        browser.startBrowsingForPeers()
        #if canImport(UIKit)
            frames = CADisplayLink(target: self, selector: #selector(frame))
            frames?.preferredFrameRateRange = CAFrameRateRange(minimum: 30, maximum: 30)
            frames?.add(to: .main, forMode: .common)
        #endif
    }

    func stop() {
        #if canImport(UIKit)
            frames?.invalidate()
        #endif
        advertiser.stopAdvertisingPeer()
        browser.stopBrowsingForPeers()
        session.disconnect()
    }

    #if canImport(UIKit)
        @objc private func frame() { tick() }
    #endif

    /// Moves this player by one frame, and sends where it is.
    private func tick() {
        me.state = me.state.advanced()
        send(me.state.data, .unreliable)
    }

    func score() {
        me.points += 1
        send(Data([UInt8(clamping: me.points)]), .reliable)
    }

    private func send(_ data: Data, _ mode: MCSessionSendDataMode) {
        guard !session.connectedPeers.isEmpty else { return }
        try? session.send(data, toPeers: session.connectedPeers, with: mode)
    }

    private func receive(_ data: Data, from peer: MCPeerID) {
        var player = others[peer, default: Player(name: peer.displayName)]
        if let state = PlayerState(data) {
            // Unreliable messages may arrive late, or in another order: the last one wins.
            guard state.number > player.state.number else { return }
            player.state = state
        } else if let points = data.first, data.count == 1 {
            player.points = max(player.points, Int(points))
        }
        others[peer] = player
    }

    private func change(_ peer: MCPeerID, to state: MCSessionState) {
        if state == .notConnected { others[peer] = nil }
    }
}

extension GameModel: MCSessionDelegate {
    nonisolated func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        Task { @MainActor in change(peerID, to: state) }
    }

    nonisolated func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        Task { @MainActor in receive(data, from: peerID) }
    }

    nonisolated func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}

    nonisolated func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}

    nonisolated func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {}
}

extension GameModel: MCNearbyServiceBrowserDelegate, MCNearbyServiceAdvertiserDelegate {
    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 10)
    }

    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

    nonisolated func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invitationHandler(true, session)
    }
}
