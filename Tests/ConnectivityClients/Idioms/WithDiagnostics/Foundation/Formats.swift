// mode: Swift 5
// flags: -swift-version 5

import MultipeerConnectivity

// Text with a format.

// idiom: a peer as an argument of a format string
// why: An object cannot be an argument of a format string without Objective-C.
// instead: Interpolate it, and log the string.

func log(_ peer: MCPeerID) {
    #if INSTEAD
        NSLog("found \(peer)")
    #else
        // error: argument type 'MCPeerID' does not conform to expected type 'CVarArg'
        NSLog("%@", peer)
    #endif
}
