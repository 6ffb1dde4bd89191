// mode: Swift 5
// flags: -swift-version 5

// idiom: a logger of the module os
// why: There is no module os on Linux: neither `Logger` nor `OSAllocatedUnfairLock`.
// instead: Print, or use a package for logs; for the lock, use `Mutex` of the module Synchronization or `NSLock`.

#if !INSTEAD
    // error: no such module 'os'
    import os
#endif
import MultipeerConnectivity

#if INSTEAD
    func log(_ peer: MCPeerID) { print("found \(peer.displayName)") }
#else
    func log(_ peer: MCPeerID) {
        Logger(subsystem: "app", category: "peers").info("found \(peer.displayName)")
    }
#endif
