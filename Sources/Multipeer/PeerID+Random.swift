public import MultipeerCore
import MultipeerTransport

extension PeerID {
    /// Creates a new peer: 16 random bytes and a name of 1 to 63 bytes. Archive it to stay the same peer next time.
    public init(displayName: String) throws(InvalidPeerID) {
        var randomness = SystemRandomness()
        let uid = UID(high: randomness.next(), low: randomness.next())  // [peer.uid-random]
        try self.init(uid: uid, displayName: displayName)
    }
}
