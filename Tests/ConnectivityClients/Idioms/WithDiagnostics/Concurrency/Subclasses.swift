// mode: Swift 6, main actor by default
// flags: -swift-version 6 -default-isolation MainActor

import MultipeerConnectivity

// Subclasses where declarations are on the main actor by default.

// idiom: a subclass of a session without an attribute
// why: The session's methods are not on the main actor. The compiler allows this only for classes of Objective-C.
// instead: Make the subclass `nonisolated`.

#if INSTEAD
    nonisolated final class FullSession: MCSession {
        override var connectedPeers: [MCPeerID] { [myPeerID] }
    }
#else
    // error: main actor-isolated initializer 'init(peer:securityIdentity:encryptionPreference:)'
    final class FullSession: MCSession {
        // error: main actor-isolated property 'connectedPeers' has different actor isolation
        // error: main actor-isolated getter for property 'connectedPeers' has different actor isolation
        override var connectedPeers: [MCPeerID] { [myPeerID] }
    }
#endif

// idiom: a subclass of a browser without an attribute
// why: The browser's methods are not on the main actor. The compiler allows this only for classes of Objective-C.
// instead: Make the subclass `nonisolated`.

#if INSTEAD
    nonisolated final class IdleBrowser: MCNearbyServiceBrowser {
        override func startBrowsingForPeers() {}
    }
#else
    // error: main actor-isolated initializer 'init(peer:serviceType:)' has different actor isolation
    final class IdleBrowser: MCNearbyServiceBrowser {
        // error: main actor-isolated instance method 'startBrowsingForPeers()' has different actor isolation
        override func startBrowsingForPeers() {}
    }
#endif
