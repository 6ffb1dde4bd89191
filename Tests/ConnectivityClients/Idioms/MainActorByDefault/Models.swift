@preconcurrency import MultipeerConnectivity
import Observation

// A module whose declarations are on the main actor by default, as in new applications.

// idiom: a model whose isolation and conformance are inferred

final class ChatModel: NSObject, MCSessionDelegate {
    private(set) var peers: [MCPeerID] = []
    private(set) var lines: [String] = []

    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        peers = session.connectedPeers
    }
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        lines.append(String(decoding: data, as: UTF8.self))
    }
    func session(_: MCSession, didReceive _: InputStream, withName _: String, fromPeer _: MCPeerID) {}
    func session(
        _: MCSession, didStartReceivingResourceWithName _: String, fromPeer _: MCPeerID, with _: Progress
    ) {}
    func session(
        _: MCSession, didFinishReceivingResourceWithName _: String, fromPeer _: MCPeerID, at _: URL?,
        withError _: (any Error)?
    ) {}
}

// idiom: a model with nonisolated delegate methods that hop in a task

final class NearbyModel: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var found: [MCPeerID: [String: String]] = [:]

    nonisolated func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {
        Task { @MainActor in self.found[peerID] = info ?? [:] }
    }
    nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
        Task { @MainActor in self.found[peerID] = nil }
    }
}

// idiom: an @Observable model that starts and stops browsing

@Observable
final class LobbyModel {
    @ObservationIgnored private var browser: MCNearbyServiceBrowser?
    @ObservationIgnored private let nearby = NearbyModel()
    var isSearching = false {
        didSet { isSearching ? start() : stop() }
    }

    private func start() {
        browser = MCNearbyServiceBrowser(peer: Shared.peer, serviceType: Shared.serviceType)
        browser?.delegate = nearby
        browser?.startBrowsingForPeers()
    }
    private func stop() {
        browser?.stopBrowsingForPeers()
        browser = nil
    }
}

// idiom: shared instances and static variables without an attribute

enum Shared {
    static let peer = MCPeerID(displayName: "main")
    static let session = MCSession(peer: peer)
    static var serviceType = "idiom-main"
}

// idiom: global variables without an attribute

let mainSession = MCSession(peer: Shared.peer)
var lastError: MCError?

func note(_ error: any Error) { lastError = error as? MCError ?? MCError(.unknown) }

// idiom: disconnecting in an isolated deinit

final class Call {
    private let session = MCSession(peer: Shared.peer)
    isolated deinit { session.disconnect() }
}

// idiom: a method of a view model that sends

final class Composer {
    var text = ""
    private let session: MCSession
    init(session: MCSession) { self.session = session }

    func send() {
        guard !text.isEmpty else { return }
        try? session.send(Data(text.utf8), toPeers: session.connectedPeers, with: .reliable)
        text = ""
    }
}

// idiom: an extension of the framework's class, on the main actor

extension MCPeerID {
    var label: String { self == Shared.peer ? "\(displayName) (you)" : displayName }
}
