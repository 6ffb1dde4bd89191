// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Key-value observing and coding, which is a part of Objective-C's runtime.

// idiom: a progress observed by key path
// why: `Progress` cannot be observed without Objective-C: `NSObject` has no `observe(_:)` here.
// instead: Iterate over `fractions`, an asynchronous sequence of this package, or poll `fractionCompleted`.

final class ProgressBar {
    private(set) var value = 0.0

    #if INSTEAD
        private var task: Task<Void, Never>?
        func show(_ progress: Progress) {
            task = Task { @MainActor in
                for await fraction in progress.fractions { self.value = fraction }
            }
        }
    #else
        // error: cannot find type 'NSKeyValueObservation' in scope
        private var observation: NSKeyValueObservation?
        func show(_ progress: Progress) {
            // error: value of type 'Progress' has no member 'observe'
            observation = progress.observe(\.fractionCompleted, options: [.new]) { progress, _ in
                DispatchQueue.main.async { self.value = progress.fractionCompleted }
            }
        }
    #endif
}

// idiom: a progress observed with addObserver
// why: `NSObject` has neither `addObserver(_:forKeyPath:options:context:)` nor `observeValue` here.
// instead: Poll the progress with a timer.

final class OldProgressBar: NSObject {
    private(set) var value = 0.0

    #if INSTEAD
        func show(_ progress: Progress) {
            _ = Timer.scheduledTimer(withTimeInterval: 0.1, repeats: true) { timer in
                self.value = progress.fractionCompleted
                if progress.isFinished || progress.isCancelled { timer.invalidate() }
            }
        }
    #else
        func show(_ progress: Progress) {
            // error: value of type 'Progress' has no member 'addObserver'
            progress.addObserver(self, forKeyPath: "fractionCompleted", options: .new, context: nil)
        }
        override func observeValue(
            // error: cannot find type 'NSKeyValueChangeKey' in scope
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            value = (object as? Progress)?.fractionCompleted ?? 0
        }
    #endif
}

// idiom: the connected peers observed by key path
// why: `connectedPeers` cannot be observed without Objective-C.
// instead: Read `connectedPeers` when the delegate is called about a state.

final class PeerCount: NSObject {
    private(set) var count = 0

    #if INSTEAD
        func changed(_ session: MCSession) { count = session.connectedPeers.count }
    #else
        func watch(_ session: MCSession) -> Any {
            // error: value of type 'MCSession' has no member 'observe'
            session.observe(\.connectedPeers) { session, _ in self.count = session.connectedPeers.count }
        }
    #endif
}

// idiom: an @objc dynamic property
// why: `@objc dynamic` needs Objective-C's runtime.
// instead: Use a property observer, `@Observable`, or a closure.

final class RoomState: NSObject {
    #if INSTEAD
        var onChange: ((MCSessionState) -> Void)?
        var state = MCSessionState.notConnected { didSet { onChange?(state) } }
    #else
        // error: Objective-C interoperability is disabled
        @objc dynamic var state = MCSessionState.notConnected
    #endif
}

// idiom: a #keyPath expression
// why: `#keyPath` needs Objective-C's runtime.
// instead: Write a key path of Swift.

#if INSTEAD
    let nameKey = \MCPeerID.displayName
#else
    // error: '#keyPath' can only be used with the Objective-C runtime
    let nameKey = #keyPath(MCPeerID.displayName)
#endif

// idiom: a property read with value(forKey:)
// why: There is no key-value coding without Objective-C.
// instead: Read the property.

func name(of peer: MCPeerID) -> String? {
    #if INSTEAD
        peer.displayName
    #else
        // error: value of type 'MCPeerID' has no member 'value'
        peer.value(forKey: "displayName") as? String
    #endif
}

// idiom: peers filtered with a predicate format
// why: A predicate format reads properties by name, which needs Objective-C.
// instead: Filter with a closure.

func filtered(_ peers: [MCPeerID], _ start: String) -> [MCPeerID] {
    #if INSTEAD
        peers.filter { $0.displayName.hasPrefix(start) }
    #else
        // error: 'init(format:_:)' has been renamed to 'init(block:)'
        let predicate = NSPredicate(format: "displayName BEGINSWITH %@", start)
        return peers.filter { predicate.evaluate(with: $0) }
    #endif
}
