// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// What the declarations of the framework do not allow, here or on Apple's platforms.

// idiom: a delegate that does not inherit from NSObject
// why: Each delegate protocol refines `NSObjectProtocol`.
// instead: Inherit from `NSObject`.

#if INSTEAD
    class Finder: NSObject {}
#else
    class Finder {}
#endif

// error: type 'Finder' does not conform to protocol 'NSObjectProtocol'
extension Finder: MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {}
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
}

// idiom: a subclass of a session with an initialiser without arguments
// why: A session has no initialiser without a peer.
// instead: Call `init(peer:securityIdentity:encryptionPreference:)` in an initialiser of your own.

final class OwnSession: MCSession {
    #if INSTEAD
        init() {
            let peer = MCPeerID(displayName: "own")
            super.init(peer: peer, securityIdentity: nil, encryptionPreference: .required)
        }
    #else
        // error: initializer does not override a designated initializer from its superclass
        // error: missing argument for parameter 'peer' in call
        override init() { super.init() }
    #endif
}

// idiom: a peer without a name
// why: A peer has no initialiser without arguments.
// instead: Pass a name; an empty one stands for the name of the host.

func anyone() -> MCPeerID {
    #if INSTEAD
        MCPeerID(displayName: "")
    #else
        // error: missing argument for parameter
        MCPeerID()
    #endif
}

// idiom: a conformance of a peer to Decodable
// why: A required initialiser of a class that is not final has to be in the class.
// instead: Store the peer's archive in a `Codable` type of your own.

#if INSTEAD
    struct CodablePeer: Codable {
        let archive: Data
        var peer: MCPeerID? { try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive) }
    }
#else
    extension MCPeerID: @retroactive Decodable {
        // error: initializer requirement 'init(from:)' can only be satisfied by a 'required' initializer
        /// Makes a new peer with a name.
        public convenience init(from decoder: any Decoder) throws {
            self.init(displayName: try decoder.singleValueContainer().decode(String.self))
        }
    }
#endif

// idiom: a peer removed from the list of connected peers
// why: The list of connected peers is read-only; a session cannot remove one peer.
// instead: Ask the peer to disconnect, or disconnect the whole session.

func remove(_ peer: MCPeerID, from session: MCSession) throws {
    #if INSTEAD
        try session.send(Data("leave".utf8), toPeers: [peer], with: .reliable)
    #else
        // error: cannot use mutating member on immutable value: 'connectedPeers' is a get-only property
        session.connectedPeers.removeAll { $0 == peer }
    #endif
}

// idiom: the URL of a received file that is not optional
// why: There is no URL when the transfer has failed.
// instead: Write `URL?`.

// error: type 'OldReceiver' does not conform to protocol 'MCSessionDelegate'
final class OldReceiver: NSObject, MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {}
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
    func session(_: MCSession, didReceive _: InputStream, withName _: String, fromPeer _: MCPeerID) {}
    func session(
        _: MCSession, didStartReceivingResourceWithName _: String, fromPeer _: MCPeerID, with _: Progress
    ) {}
    #if INSTEAD
        func session(
            _: MCSession, didFinishReceivingResourceWithName name: String, fromPeer _: MCPeerID,
            at url: URL?, withError _: Error?
        ) { print(name, url?.path ?? "failed") }
    #else
        func session(
            _: MCSession, didFinishReceivingResourceWithName name: String, fromPeer _: MCPeerID,
            at url: URL, withError _: Error?
        ) { print(name, url.path) }
    #endif
}

// idiom: a private method with the signature of an optional requirement
// why: Without Objective-C there are no optional requirements, and an implementation is as accessible as its type. Apple's framework never calls a private one.
// instead: Remove it, or leave out `private`: then it is called.

final class QuietFinder: NSObject, MCNearbyServiceBrowserDelegate {
    func browser(
        _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID,
        withDiscoveryInfo info: [String: String]?
    ) {}
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}

    #if INSTEAD
        func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
    #else
        // error: must be as accessible as its enclosing type because it matches a requirement in protocol
        private func browser(_: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {}
    #endif
}

// idiom: the names of Swift 2
// why: The names changed in Swift 3.
// instead: Use the current names.

func sendAsBefore(_ data: Data, in session: MCSession) throws {
    #if INSTEAD
        try session.send(data, toPeers: session.connectedPeers, with: MCSessionSendDataMode.reliable)
    #else
        // error: value of type 'MCSession' has no member 'sendData'
        try session.sendData(data, toPeers: session.connectedPeers, withMode: .Reliable)
    #endif
}
