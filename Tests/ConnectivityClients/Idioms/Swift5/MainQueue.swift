import MultipeerConnectivity

// Delegate methods that dispatch to the main queue, as before actors.

// idiom: a delegate method dispatches to the main queue with a weak self

final class PeerTable: QuietSessionDelegate {
    private(set) var names: [String] = []
    var reload: (() -> Void)?

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        DispatchQueue.main.async { [weak self] in
            guard let self = self else { return }
            self.names = session.connectedPeers.map { $0.displayName }
            self.reload?()
        }
    }
}

// idiom: a delegate method dispatches its arguments to the main queue

final class Transcript: QuietSessionDelegate {
    private(set) var entries = [(peer: MCPeerID, data: Data)]()

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        DispatchQueue.main.async(execute: {
            self.entries.append((peerID, data))
        })
    }
}

// idiom: a delegate method calls main.sync

final class ScreenState: QuietSessionDelegate {
    var isShowing = false

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let isShowing = Thread.isMainThread ? self.isShowing : DispatchQueue.main.sync { self.isShowing }
        if !isShowing { try? session.send(Data([0]), toPeers: [peerID], with: .reliable) }
    }
}

// idiom: a work item that is cancelled when the peer reconnects

final class GracePeriod: QuietSessionDelegate {
    private var removals: [MCPeerID: DispatchWorkItem] = [:]
    private(set) var players: Set<MCPeerID> = []

    override func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        removals.removeValue(forKey: peerID)?.cancel()
        guard state == .notConnected else { return }
        let item = DispatchWorkItem { [weak self] in self?.players.remove(peerID) }
        removals[peerID] = item
        DispatchQueue.main.asyncAfter(deadline: .now() + 5, execute: item)
    }
}

// idiom: a delegate method adds an operation to the main queue

final class OperationHop: QuietSessionDelegate {
    var badge = 0

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        OperationQueue.main.addOperation { self.badge += 1 }
    }
}

// idiom: a delegate method posts a notification on the main queue

extension Notification.Name {
    static let didReceiveData = Notification.Name("didReceiveData")
}

final class NotificationPoster: QuietSessionDelegate {
    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let info: [String: Any] = ["data": data, "peer": peerID]
        DispatchQueue.main.async {
            NotificationCenter.default.post(name: .didReceiveData, object: session, userInfo: info)
        }
    }
}

// idiom: an observer of notifications, with a closure

final class NotificationReader {
    private var observer: NSObjectProtocol?
    private(set) var received: [MCPeerID: Data] = [:]

    init() {
        observer = NotificationCenter.default.addObserver(forName: .didReceiveData, object: nil, queue: .main)
        {
            [weak self] notification in
            guard let peer = notification.userInfo?["peer"] as? MCPeerID else { return }
            self?.received[peer] = notification.userInfo?["data"] as? Data
        }
    }

    deinit { observer.map(NotificationCenter.default.removeObserver) }
}

// idiom: a class on the main actor with nonisolated delegate methods

@MainActor
final class MainList: NSObject {
    private(set) var peers: [MCPeerID] = []
    func add(_ peer: MCPeerID) { peers.append(peer) }
}

extension MainList: MCNearbyServiceBrowserDelegate {
    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task { @MainActor in self.add(peerID) }
    }
    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: an invitation answered from the main queue, after the user was asked

final class AlertDoor: NSObject, MCNearbyServiceAdvertiserDelegate {
    let session = MCSession(peer: MCPeerID(displayName: "alert"))
    var ask: ((String, @escaping (Bool) -> Void) -> Void)?

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async {
            self.ask?(peerID.displayName) { isAccepted in
                invitationHandler(isAccepted, isAccepted ? self.session : nil)
            }
        }
    }
}

// idiom: an invitation declined after a delay

final class SlowDoor: NSObject, MCNearbyServiceAdvertiserDelegate {
    private var handler: ((Bool, MCSession?) -> Void)?

    func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
        withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {
        DispatchQueue.main.async { self.handler = invitationHandler }
        DispatchQueue.main.asyncAfter(deadline: .now() + 20) { [weak self] in
            self?.handler?(false, nil)
            self?.handler = nil
        }
    }
}
