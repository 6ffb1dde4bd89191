import Foundation
import MultipeerConnectivity

/// The own peer id, archived in the user defaults: a device that comes back is the same device to all others.
enum StoredPeer {
    /// Returns the id of that name that was created the first time; a new one when there is none that can be read.
    ///
    /// Two programs of one user share their defaults. A key for each name separates two that run at once.
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
