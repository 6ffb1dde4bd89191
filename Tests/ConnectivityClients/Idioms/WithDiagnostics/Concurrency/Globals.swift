// mode: Swift 6
// flags: -swift-version 6

// warning: add '@preconcurrency'
import MultipeerConnectivity

// Global and static variables in Swift 6.

// idiom: a shared instance of a class that is not Sendable
// why: Several threads could use it at the same time.
// instead: Put the class on the main actor, or another global actor.

#if INSTEAD
    @MainActor
    final class PeerService {
        static let shared = PeerService()
        let session = MCSession(peer: MCPeerID(displayName: "shared"))
    }
#else
    final class PeerService {
        // error: static property 'shared' is not concurrency-safe
        static let shared = PeerService()
        let session = MCSession(peer: MCPeerID(displayName: "shared"))
    }
#endif

// idiom: a static variable
// why: Several threads could change it at the same time.
// instead: Make it a constant, or put it on the main actor.

enum Settings {
    #if INSTEAD
        static let serviceType = "idiom"
        @MainActor static var encryption = MCEncryptionPreference.required
    #else
        // error: static property 'serviceType' is not concurrency-safe
        static var serviceType = "idiom"
        // error: static property 'encryption' is not concurrency-safe
        static var encryption = MCEncryptionPreference.required
    #endif
}

// idiom: a global session in Swift 6
// why: `MCSession` is not `Sendable`.
// instead: Put it on the main actor, or import with `@preconcurrency`.

#if INSTEAD
    @MainActor let session = MCSession(peer: MCPeerID(displayName: "global"))
#else
    // error: let 'session' is not concurrency-safe
    let session = MCSession(peer: MCPeerID(displayName: "global"))
#endif
