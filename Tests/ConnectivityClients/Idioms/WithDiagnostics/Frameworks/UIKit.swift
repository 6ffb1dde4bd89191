// mode: Swift 5
// flags: -swift-version 5

// idiom: the name of the device from UIKit
// why: There is no UIKit on Linux.
// instead: Use the name of the host; an empty display name also stands for it.

#if !INSTEAD
    // error: no such module 'UIKit'
    import UIKit
#endif
import MultipeerConnectivity

#if INSTEAD
    func me() -> MCPeerID { MCPeerID(displayName: ProcessInfo.processInfo.hostName) }
#else
    func me() -> MCPeerID { MCPeerID(displayName: UIDevice.current.name) }
#endif
