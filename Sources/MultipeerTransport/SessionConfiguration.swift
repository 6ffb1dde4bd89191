import MultipeerFraming
package import MultipeerIntroduction
public import MultipeerSecurity

/// How a session protects its links, whom it trusts, where it listens and how long it waits.
public struct SessionConfiguration: Sendable {
    /// Whether links are encrypted. With an identity, `.optional` counts as `.required`. Spec 5.1.
    public var preference: EncryptionPreference
    /// The certificate and key to show; nil makes a fresh key for the session. Ignored when the preference is none.
    public var identity: Identity?
    /// Which identities are accepted, besides the key that the connection data pins.
    public var trust: TrustPolicy
    /// What `TrustPolicy.trustOnFirstUse` remembers, on disk; nil remembers for the life of the session.
    public var trustStore: TrustStoreFile?
    /// Where to listen; empty listens on every interface, on a port that the system chooses.
    public var listening: [SocketAddress]
    /// What connection data names instead of the addresses at which the session listens; empty names those. For a
    /// port that somebody forwards.
    public var advertised: [SocketAddress]
    /// How long one `connect` may take, 1 to 600 seconds.
    public var patience: Duration
    /// The longest message this side accepts, in bytes: 65,536 to 1 GiB.
    public var maxMessage: Int
    /// Silence after which a peer is asked whether it is there. Spec 14.2.
    public var silence: Duration
    /// Silence after which a peer is given up. Spec 14.2.
    public var death: Duration
    /// Where TLS secrets are written for a protocol analyser, in the format of `SSLKEYLOGFILE`; nil writes none.
    public var keyLog: KeyLog?
    /// Links at the most. Spec 15.
    package var seats: Int
    /// The same, found out when it is known where the session listens. A test puts itself in between.
    package var advertising: (@Sendable ([Candidate]) -> [Candidate])?

    /// A session with the standard limits: encrypted when the other side can, listening on every interface.
    public init(
        preference: EncryptionPreference = .required, identity: Identity? = nil,
        trust: TrustPolicy = .connectionData
    ) {
        self.preference = preference
        self.identity = identity
        self.trust = trust
        trustStore = nil
        listening = []
        advertised = []
        patience = Timing.attempt
        maxMessage = Limits.maxMessage
        silence = .seconds(3)
        death = .seconds(10)
        seats = Limits.peers - 1
        keyLog = nil
        advertising = nil
    }
}
