// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Optional methods of delegates, which need the runtime of Objective-C to be left out.

// idiom: an optional delegate method called with a question mark
// why: There are no optional requirements without Objective-C; here they are requirements with a default.
// instead: Leave the question mark out. A delegate that does not implement the method has the default.

func certify(_ session: MCSession, _ peer: MCPeerID, _ delegate: MCSessionDelegate) {
    #if INSTEAD
        delegate.session(session, didReceiveCertificate: nil, fromPeer: peer) { _ in }
    #else
        // error: cannot use optional chaining on non-optional value
        delegate.session?(session, didReceiveCertificate: nil, fromPeer: peer) { _ in }
    #endif
}

// idiom: an optional method of an optional delegate, called with two question marks
// why: There are no optional requirements without Objective-C; here they are requirements with a default.
// instead: Keep the question mark after the delegate, and leave out the one after the method.

final class FailingBrowser: MCNearbyServiceBrowser {
    override func startBrowsingForPeers() {
        #if INSTEAD
            delegate?.browser(self, didNotStartBrowsingForPeers: MCError(.unavailable))
        #else
            // error: cannot use optional chaining on non-optional value
            delegate?.browser?(self, didNotStartBrowsingForPeers: MCError(.unavailable))
        #endif
    }
}

// idiom: a check whether a delegate responds to a selector
// why: There are no selectors without Objective-C.
// instead: Call the method: its default implementation does what Apple's framework does without one.

func warn(_ advertiser: MCNearbyServiceAdvertiser, _ error: MCError) {
    #if INSTEAD
        advertiser.delegate?.advertiser(advertiser, didNotStartAdvertisingPeer: error)
    #else
        // error: '#selector' can only be used with the Objective-C runtime
        let name = #selector(MCNearbyServiceAdvertiserDelegate.advertiser(_:didNotStartAdvertisingPeer:))
        // error: value of type 'any MCNearbyServiceAdvertiserDelegate' has no member 'responds'
        guard advertiser.delegate?.responds(to: name) == true else { return }
    #endif
}

// idiom: a delegate protocol of the application with an optional method
// why: There are no optional requirements without Objective-C.
// instead: Declare the requirement, and a default for it in an extension.

#if INSTEAD
    protocol RoomDelegate: AnyObject {
        func roomDidOpen(_ session: MCSession)
        func roomDidClose(_ session: MCSession)
    }
    extension RoomDelegate {
        func roomDidClose(_ session: MCSession) {}
    }
#else
    // error: Objective-C interoperability is disabled
    @objc protocol RoomDelegate {
        func roomDidOpen(_ session: MCSession)
        // error: '@objc' can only be used with members of classes
        // error: 'optional' can only be applied to members of an '@objc' protocol
        @objc optional func roomDidClose(_ session: MCSession)
    }
#endif
