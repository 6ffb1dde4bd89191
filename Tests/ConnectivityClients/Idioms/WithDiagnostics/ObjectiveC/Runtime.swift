// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Functions of Objective-C's runtime.

// idiom: an associated object of a peer
// why: Associated objects belong to Objective-C's runtime.
// instead: Keep a dictionary whose keys are the peers.

#if INSTEAD
    struct Colors { var byPeer: [MCPeerID: String] = [:] }
#else
    extension MCPeerID {
        var color: String? {
            // error: cannot find 'objc_getAssociatedObject' in scope
            get { objc_getAssociatedObject(self, "color") as? String }
            // error: cannot find 'objc_setAssociatedObject' in scope
            set { objc_setAssociatedObject(self, "color", newValue, .OBJC_ASSOCIATION_RETAIN) }
        }
    }
#endif

// idiom: a critical section with objc_sync_enter
// why: `objc_sync_enter` and `objc_sync_exit` belong to Objective-C's runtime.
// instead: Use a lock.

final class Ledger {
    private var peers: [MCPeerID] = []
    private let lock = NSLock()

    func add(_ peer: MCPeerID) {
        #if INSTEAD
            lock.withLock { peers.append(peer) }
        #else
            // error: cannot find 'objc_sync_enter' in scope
            objc_sync_enter(self)
            // error: cannot find 'objc_sync_exit' in scope
            defer { objc_sync_exit(self) }
            peers.append(peer)
        #endif
    }
}

// idiom: an autorelease pool
// why: Nothing is autoreleased without Objective-C.
// instead: Leave it out: objects are released after their last use.

func drain(_ stream: InputStream) -> Int {
    var buffer = [UInt8](repeating: 0, count: 1024)
    #if INSTEAD
        return stream.read(&buffer, maxLength: buffer.count)
    #else
        // error: cannot find 'autoreleasepool' in scope
        return autoreleasepool { stream.read(&buffer, maxLength: buffer.count) }
    #endif
}

// idiom: weak listeners in an NSHashTable
// why: `NSHashTable` and `NSMapTable` are not in Foundation for Linux.
// instead: Keep an array of structures with a weak property.

final class Listeners {
    #if INSTEAD
        private struct Listener { weak var object: (any MCSessionDelegate)? }
        private var all: [Listener] = []
        func add(_ listener: any MCSessionDelegate) { all.append(Listener(object: listener)) }
    #else
        // error: cannot find 'NSHashTable' in scope
        private let all = NSHashTable<AnyObject>.weakObjects()
        func add(_ listener: any MCSessionDelegate) { all.add(listener) }
    #endif
}

// idiom: a class marked @objcMembers
// why: There is no Objective-C code that could use the members.
// instead: Leave the attribute out.

#if INSTEAD
    final class Bridge: NSObject { var session: MCSession? }
#else
    // error: Objective-C interoperability is disabled
    @objcMembers final class Bridge: NSObject { var session: MCSession? }
#endif
