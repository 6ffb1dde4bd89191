public import MultipeerCore
public import MultipeerSecurity
public import MultipeerTransport

extension PeerID {
    /// Creates an id with 16 random bytes. Another one with the same name is a different peer: archive it to keep it.
    ///
    /// - Parameter displayName: The name to display, 1 to 63 bytes of UTF-8 without control characters.
    /// - Throws: `invalidArgument` for any other name.
    public init(displayName: String) throws(MultipeerError) {
        try self.init(uid: PeerID.randomUID(), displayName: displayName)
    }

    /// Creates an id with 16 random bytes and a valid name that is made of any text.
    package init(sanitizing displayName: String) {
        self.init(uid: PeerID.randomUID(), sanitizing: displayName)
    }

    private static func randomUID() -> UID {  // [peer.uid-random]
        var randomness = SystemRandomness()
        return UID(random: randomness.next(), randomness.next())
    }

    /// Creates the id of the holder of an identity's key: a hash of that key. Other peers check it in every connection.
    ///
    /// A session of such a peer needs the identity in its configuration, and an advertiser needs it, too. The id stays the same
    /// when the certificate is renewed for the same key.
    ///
    /// - Parameters:
    ///   - displayName: The name to display, 1 to 63 bytes of UTF-8 without control characters.
    ///   - identity: The identity whose key the id is a hash of.
    /// - Throws: `invalidArgument` for any other name.
    public init(displayName: String, identity: Identity) throws(MultipeerError) {
        try self.init(uid: identity.uid, displayName: displayName)  // [uid.keyed]
    }

    /// Creates the id with these 16 bytes.
    ///
    /// - Parameters:
    ///   - uid: The bytes that identify the peer. Those of `UID.isKeyed` prove the peer, and only the holder of the key can use them
    ///     in a session of its own.
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
