import AppKit
import ARKit
import RealityKit
import Security
import WatchKit
import os

// Code for the searches of the checklist in `WillMyApplicationRun.md` that find nothing in the other folders. It needs
// Apple's frameworks, and is not compiled.

final class SceneLink {
    private let values = CurrentValueSubject<[MCPeerID], Never>([])
    private var subscriptions: Set<AnyCancellable> = []
    private let listeners = NSMapTable<MCPeerID, AnyObject>.strongToWeakObjects()
    private let log = OSLog(subsystem: "app", category: "peers")
    private let lock = OSAllocatedUnfairLock()

    func synchronize(_ view: ARView, _ session: MCSession) throws {
        view.scene.synchronizationService = try MultipeerConnectivityService(session: session)
        os_log("connected with %d", log: log, session.connectedPeers.count)
    }

    func identity(_ data: CFData, _ options: CFDictionary) -> CFArray? {
        let query = [kSecClass: kSecClassIdentity, kSecReturnRef: true] as CFDictionary
        var items: CFTypeRef?
        if SecItemCopyMatching(query, &items) == errSecSuccess { return items as? CFArray }
        var imported: CFArray?
        SecPKCS12Import(data, options, &imported)
        return imported
    }

    func fail(_ advertiser: MCNearbyServiceAdvertiser, _ error: Error) {
        advertiser.delegate?.advertiser?(advertiser, didNotStartAdvertisingPeer: error)
    }

    private func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping (Bool) -> Void
    ) { certificateHandler(true) }

    private func advertiser(
        _ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: Error
    ) { fail(advertiser, error) }

    func name(_ peer: MCPeerID) -> String {
        UserDefaults.standard.setValue(peer.displayName, forKey: "name")
        return String(format: "%@ on %@", peer, Host.current().localizedName ?? "")
    }
}
