@preconcurrency import MultipeerConnectivity
import Observation

// View models on the main actor, and how delegate methods reach them.

// idiom: a view model with nonisolated delegate methods that hop in a task

@MainActor
final class RoomModel: NSObject, MCSessionDelegate {
    private(set) var peers: [MCPeerID] = []

    nonisolated func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        let peers = session.connectedPeers
        Task { @MainActor in self.peers = peers }
    }
    nonisolated func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
    nonisolated func session(
        _: MCSession, didReceive _: InputStream, withName _: String, fromPeer _: MCPeerID
    ) {}
    nonisolated func session(
        _: MCSession, didStartReceivingResourceWithName _: String, fromPeer _: MCPeerID, with _: Progress
    ) {}
    nonisolated func session(
        _: MCSession, didFinishReceivingResourceWithName _: String, fromPeer _: MCPeerID, at _: URL?,
        withError _: (any Error)?
    ) {}
}

// idiom: an @Observable model with values for its views

@MainActor
@Observable
final class LobbyModel {
    struct Row: Identifiable, Sendable {
        let id: Int
        var name: String
        var isConnected: Bool
    }

    private(set) var rows: [Row] = []
    @ObservationIgnored private var peers: [Int: MCPeerID] = [:]

    func show(_ peer: MCPeerID, isConnected: Bool) {
        peers[peer.hash] = peer
        rows.removeAll { $0.id == peer.hash }
        rows.append(Row(id: peer.hash, name: peer.displayName, isConnected: isConnected))
    }
}

// idiom: a delegate method with a task that captures its model weakly

final class WeakHop: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    let model: LobbyModel
    init(model: LobbyModel) { self.model = model }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task { @MainActor [weak model] in model?.show(peerID, isConnected: false) }
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a delegate method that dispatches to the main queue and assumes isolation

final class QueueHop: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    let model: LobbyModel
    init(model: LobbyModel) { self.model = model }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        DispatchQueue.main.async {
            MainActor.assumeIsolated { self.model.show(peerID, isConnected: false) }
        }
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a delegate method that awaits MainActor.run

final class RunHop: NSObject, MCNearbyServiceBrowserDelegate, Sendable {
    let model: LobbyModel
    init(model: LobbyModel) { self.model = model }

    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task {
            let room = info?["room"] ?? "?"
            await MainActor.run { self.model.show(MCPeerID(displayName: room), isConnected: false) }
        }
    }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a @preconcurrency conformance of a main-actor class

@MainActor
final class CheckedList: NSObject {
    private(set) var found: [MCPeerID] = []
}

extension CheckedList: @preconcurrency MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) { found.append(peerID) }
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        found.removeAll { $0 == peerID }
    }
}

// idiom: an isolated conformance of a main-actor class

@MainActor
final class IsolatedList: NSObject {
    private(set) var invited: [MCPeerID] = []
}

extension IsolatedList: @MainActor MCNearbyServiceAdvertiserDelegate {
    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        invited.append(peerID)
        invitationHandler(false, nil)
    }
}

// idiom: a main-actor class with nonisolated and nonisolated(unsafe) properties

@MainActor
final class MixedModel: NSObject, MCNearbyServiceBrowserDelegate {
    nonisolated let session = MCSession(peer: MCPeerID(displayName: "mixed"))
    nonisolated(unsafe) private var lastInvited: MCPeerID?
    var title = ""

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        lastInvited = peerID
        browser.invitePeer(peerID, to: session, withContext: nil, timeout: 15)
    }
    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a singleton on the main actor

@MainActor
final class SharedModel {
    static let shared = SharedModel()
    static var serviceType = "idiom-6"
    let session = MCSession(peer: MCPeerID(displayName: "shared"))
    private init() {}
}
