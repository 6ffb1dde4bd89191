// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Targets and selectors.

// idiom: a timer with a target and a selector
// why: There are no selectors without Objective-C.
// instead: Use a timer with a block.

final class Announcer {
    let session: MCSession
    init(session: MCSession) { self.session = session }

    #if INSTEAD
        func start() -> Timer {
            Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in self?.announce() }
        }
        private func announce() {
            try? session.send(Data(), toPeers: session.connectedPeers, with: .unreliable)
        }
    #else
        func start() -> Timer {
            Timer.scheduledTimer(
                // error: '#selector' can only be used with the Objective-C runtime
                timeInterval: 1, target: self, selector: #selector(announce), userInfo: nil, repeats: true)
        }
        // error: Objective-C interoperability is disabled
        @objc private func announce() {
            try? session.send(Data(), toPeers: session.connectedPeers, with: .unreliable)
        }
    #endif
}

// idiom: an observer of notifications with a selector
// why: There are no selectors without Objective-C.
// instead: Add an observer with a block, and store the result to remove it.

final class PeerObserver {
    private var token: NSObjectProtocol?
    private(set) var count = 0

    #if INSTEAD
        func observe() {
            token = NotificationCenter.default.addObserver(
                forName: Notification.Name("peers"), object: nil, queue: nil
            ) { [weak self] _ in self?.count += 1 }
        }
    #else
        func observe() {
            NotificationCenter.default.addObserver(
                // error: '#selector' can only be used with the Objective-C runtime
                self, selector: #selector(changed(_:)), name: Notification.Name("peers"), object: nil)
        }
        // error: Objective-C interoperability is disabled
        @objc func changed(_ notification: Notification) { count += 1 }
    #endif
}

// idiom: a selector performed after a delay
// why: `NSObject` has no `perform(_:with:afterDelay:)` without Objective-C.
// instead: Dispatch it after a deadline, or sleep in a task.

final class LateStarter: NSObject {
    let browser: MCNearbyServiceBrowser
    init(_ browser: MCNearbyServiceBrowser) { self.browser = browser }

    #if INSTEAD
        func startLater() {
            DispatchQueue.main.asyncAfter(deadline: .now() + 2) { self.browser.startBrowsingForPeers() }
        }
    #else
        // error: cannot find 'perform' in scope
        // error: '#selector' can only be used with the Objective-C runtime
        func startLater() { perform(#selector(start), with: nil, afterDelay: 2) }
        // error: Objective-C interoperability is disabled
        @objc func start() { browser.startBrowsingForPeers() }
    #endif
}

// idiom: an outlet of a view
// why: An outlet is set by Objective-C's runtime.
// instead: Declare a property, and set it where the view is created.

class Label { var text = "" }

final class PeerCell {
    #if INSTEAD
        weak var name: Label?
    #else
        // error: '@IBOutlet' property cannot have non-'@objc' class type 'Label'
        @IBOutlet weak var name: Label?
    #endif
    func show(_ peer: MCPeerID) { name?.text = peer.displayName }
}

// idiom: a thread with a target and a selector
// why: There are no selectors without Objective-C.
// instead: Use a thread with a block.

final class Reader: NSObject {
    #if INSTEAD
        func start() { Thread.detachNewThread { self.run() } }
        private func run() { RunLoop.current.run(until: .distantFuture) }
    #else
        // error: '#selector' can only be used with the Objective-C runtime
        func start() { Thread.detachNewThreadSelector(#selector(run), toTarget: self, with: nil) }
        // error: Objective-C interoperability is disabled
        @objc private func run() { RunLoop.current.run(until: .distantFuture) }
    #endif
}
