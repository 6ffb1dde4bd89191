import Foundation
import MultipeerConnectivity

/// This device's peer id, archived in the user defaults, so that others recognise the device when it comes back.
enum StoredPeer {
    /// Returns the stored id for that name, or creates one if there is none that can be read.
    ///
    /// Programs of one user share their defaults. A key for each name separates programs that run at the same time.
    static func load(_ name: String, from defaults: UserDefaults = .standard) throws -> MCPeerID {
        let key = "peer id of \(name)"
        if let data = defaults.data(forKey: key),
            let known = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data)
        {
            return known
        }
        let peer = MCPeerID(displayName: name)
        defaults.set(
            try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true), forKey: key)
        defaults.synchronize()
        return peer
    }
}
