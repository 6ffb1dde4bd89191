// mode: Swift 6
// flags: -swift-version 6

import MultipeerConnectivity

// Delegates in Swift 6 whose isolation does not fit. Apple's module has the same diagnostics.

// idiom: a main-actor class that conforms without an attribute
// why: The framework calls its delegates on queues of its own, not on the main actor.
// instead: Make the methods `nonisolated`, and hop in a task.

// error: conformance of 'FoundList' to protocol 'MCNearbyServiceBrowserDelegate' crosses into main
@MainActor final class FoundList: NSObject, MCNearbyServiceBrowserDelegate {
    private(set) var names: [String] = []

    #if INSTEAD
        nonisolated func browser(
            _: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo _: [String: String]?
        ) {
            let name = peerID.displayName
            Task { @MainActor in names.append(name) }
        }
        nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    #else
        func browser(
            _: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo _: [String: String]?
        ) { names.append(peerID.displayName) }
        func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    #endif
}

// idiom: an actor as a delegate
// why: A delegate inherits from `NSObject`, and an actor cannot.
// instead: Use an object that is the delegate and forwards to the actor.

#if INSTEAD
    actor Host {
        private(set) var names: [String] = []
        func add(_ name: String) { names.append(name) }
    }

    final class HostDelegate: NSObject, MCNearbyServiceAdvertiserDelegate {
        let host = Host()

        func advertiser(
            _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
            withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
        ) {
            let name = peerID.displayName
            Task { [host] in await host.add(name) }
            invitationHandler(false, nil)
        }
    }
#else
    // error: type 'Host' does not conform to protocol 'NSObjectProtocol'
    actor Host: MCNearbyServiceAdvertiserDelegate {
        private(set) var names: [String] = []

        nonisolated func advertiser(
            _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
            withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
        ) { invitationHandler(false, nil) }
    }
#endif

// idiom: a nonisolated method that changes a property of the main actor
// why: The method runs on a queue of the framework, and the property is isolated to the main actor.
// instead: Hop in a task, with a value.

@MainActor
final class StateModel: NSObject {
    private(set) var state = MCSessionState.notConnected

    nonisolated func changed(to state: MCSessionState) {
        #if INSTEAD
            Task { @MainActor in self.state = state }
        #else
            // error: main actor-isolated property 'state' can not be mutated from a nonisolated context
            self.state = state
        #endif
    }
}
