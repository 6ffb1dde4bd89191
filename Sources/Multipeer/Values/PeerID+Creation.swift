public import MultipeerCore
public import MultipeerTransport

extension PeerID {
    /// Creates an id with 16 random bytes. Another one with the same name is a different peer: archive it to keep it.
    ///
    /// - Parameter displayName: The name to display, 1 to 63 bytes of UTF-8 without control characters.
    /// - Throws: `invalidArgument` for any other name.
    public init(displayName: String) throws(MultipeerError) {
        var randomness = SystemRandomness()
        let uid = UID(high: randomness.next(), low: randomness.next())  // [peer.uid-random]
        try self.init(uid: uid, displayName: displayName)
    }

    /// Creates the id with these 16 bytes.
    ///
    /// - Parameters:
    ///   - uid: The bytes that identify the peer.
    ///   - displayName: The name to display, 1 to 63 bytes of UTF-8 without control characters.
    /// - Throws: `invalidArgument` for any other name.
    public init(uid: UID, displayName: String) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidArgument) { () throws(InvalidPeerID) in
            try PeerID(validating: uid, displayName: displayName)
        }
    }

    /// Reads what `archived` returned.
    ///
    /// - Parameter bytes: The archived id.
    /// - Throws: `invalidArgument` for anything else.
    public init(archived bytes: [UInt8]) throws(MultipeerError) {
        self = try MultipeerError.checking(.invalidArgument) { () throws(InvalidPeerID) in
            try PeerID(parsing: bytes)
        }
    }
}
