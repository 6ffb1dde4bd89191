import MultipeerConnectivity

/// A peer with something of its own.
package class NamedPeer: MCPeerID {
    package let made: Date

    package override init(displayName myDisplayName: String) {
        made = Date()
        super.init(displayName: myDisplayName)
    }

    package required init?(coder: NSCoder) {
        made = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "made"))
        super.init(coder: coder)
    }

    package override class var supportsSecureCoding: Bool { true }
    package override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(made.timeIntervalSince1970, forKey: "made")
    }
    package override func copy(with zone: NSZone? = nil) -> Any { self }
    package override var displayName: String { super.displayName.uppercased() }
    package override var hash: Int { super.hash }
    package override func isEqual(_ object: Any?) -> Bool { super.isEqual(object) }
    package override var description: String { "named \(super.description)" }
}

/// A peer that inherits every initialiser.
package final class PlainPeer: MCPeerID {}

/// A session that counts what is asked of it, for a program's own tests.
package class CountingSession: MCSession {
    package private(set) var delegatesSet = 0
    package private(set) var sent: [Data] = []
    package private(set) var disconnections = 0
    package var pretended: [MCPeerID]?

    package override var delegate: MCSessionDelegate? {
        get { super.delegate }
        set {
            delegatesSet += 1
            super.delegate = newValue
        }
    }
    package override var connectedPeers: [MCPeerID] { pretended ?? super.connectedPeers }
    package override var myPeerID: MCPeerID { super.myPeerID }
    package override var securityIdentity: [Any]? { super.securityIdentity }
    package override var encryptionPreference: MCEncryptionPreference { super.encryptionPreference }

    package override init(
        peer myPeerID: MCPeerID, securityIdentity identity: [Any]?,
        encryptionPreference: MCEncryptionPreference
    ) {
        super.init(peer: myPeerID, securityIdentity: identity, encryptionPreference: encryptionPreference)
    }

    package override func send(_ data: Data, toPeers peerIDs: [MCPeerID], with mode: MCSessionSendDataMode)
        throws
    {
        sent.append(data)
        if pretended == nil { try super.send(data, toPeers: peerIDs, with: mode) }
    }
    package override func disconnect() {
        disconnections += 1
        super.disconnect()
    }
    package override func sendResource(
        at resourceURL: URL, withName resourceName: String, toPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: ((Error?) -> Void)? = nil
    ) -> Progress? {
        super.sendResource(
            at: resourceURL, withName: resourceName, toPeer: peerID, withCompletionHandler: completionHandler)
    }
    package override func startStream(withName streamName: String, toPeer peerID: MCPeerID) throws
        -> OutputStream
    {
        try super.startStream(withName: streamName, toPeer: peerID)
    }
    package override func connectPeer(_ peerID: MCPeerID, withNearbyConnectionData data: Data) {
        super.connectPeer(peerID, withNearbyConnectionData: data)
    }
    package override func cancelConnectPeer(_ peerID: MCPeerID) { super.cancelConnectPeer(peerID) }
    package override func nearbyConnectionData(
        forPeer peerID: MCPeerID,
        withCompletionHandler completionHandler: @escaping @Sendable (Data?, Error?) -> Void
    ) {
        super.nearbyConnectionData(forPeer: peerID, withCompletionHandler: completionHandler)
    }
}

/// The delegate as observers and `weak` spell it.
package final class ObservedSession: MCSession {
    package private(set) var changes = 0
    package override weak var delegate: MCSessionDelegate? {
        didSet { changes += 1 }
    }
}

package class CountingAdvertiser: MCNearbyServiceAdvertiser {
    package private(set) var starts = 0

    package override init(peer myPeerID: MCPeerID, discoveryInfo info: [String: String]?, serviceType: String)
    {
        super.init(peer: myPeerID, discoveryInfo: info, serviceType: serviceType)
    }
    package override weak var delegate: MCNearbyServiceAdvertiserDelegate? {
        get { super.delegate }
        set { super.delegate = newValue }
    }
    package override var discoveryInfo: [String: String]? { super.discoveryInfo }
    package override var serviceType: String { super.serviceType }
    package override var myPeerID: MCPeerID { super.myPeerID }
    package override func startAdvertisingPeer() { starts += 1 }
    package override func stopAdvertisingPeer() { starts -= 1 }
}

package class CountingBrowser: MCNearbyServiceBrowser {
    package private(set) var invited: [MCPeerID] = []

    package override init(peer myPeerID: MCPeerID, serviceType: String) {
        super.init(peer: myPeerID, serviceType: serviceType)
    }
    package override weak var delegate: MCNearbyServiceBrowserDelegate? {
        get { super.delegate }
        set { super.delegate = newValue }
    }
    package override var serviceType: String { super.serviceType }
    package override var myPeerID: MCPeerID { super.myPeerID }
    package override func startBrowsingForPeers() {}
    package override func stopBrowsingForPeers() {}
    package override func invitePeer(
        _ peerID: MCPeerID, to session: MCSession, withContext context: Data?, timeout: TimeInterval
    ) {
        invited.append(peerID)
    }
}

package class QuietAssistant: MCAdvertiserAssistant {
    package override weak var delegate: MCAdvertiserAssistantDelegate? {
        get { super.delegate }
        set { super.delegate = newValue }
    }
    package override func start() {}
    package override func stop() {}
}
