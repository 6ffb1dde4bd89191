public import MultipeerCore

/// What is known of a peer when the trust decision on its link is made.
public struct TrustEvidence: Hashable, Sendable {
    /// The uid that the peer claims.
    public let peer: UID
    /// The display name, as the peer gave it. Escape it before displaying it.
    public let name: String
    /// The certificates of the peer's identity, the leaf first. Empty when it has only a key for this session.
    public let chain: [Certificate]
    /// The key that the peer has proven to hold. Nil on a plain link.
    public let fingerprint: Fingerprint?
    /// Where the key came from.
    public let origin: PeerVerification.Origin
    /// What is remembered of the peer.
    public let known: Known
    /// Seconds since 1970, UTC: the time at which certificates must be valid.
    public let now: Int64

    /// Creates the evidence; see the properties of the same names.
    public init(
        peer: UID, name: String, chain: [Certificate], fingerprint: Fingerprint?,
        origin: PeerVerification.Origin, known: Known, now: Int64
    ) {
        self.peer = peer
        self.name = name
        self.chain = chain
        self.fingerprint = fingerprint
        self.origin = origin
        self.known = known
        self.now = now
    }
}

extension TrustEvidence {
    /// Whether the peer has an identity, so that its next session has the same key.
    public var hasIdentity: Bool { !chain.isEmpty }

    /// Whether a peer is trusted.
    public enum Verdict: Hashable, Sendable {
        /// Trusted: how it is known who the peer is, and whether its key should be remembered for the next time.
        case trusted(PeerVerification, remember: Bool)
        /// Not trusted, and why.
        case distrusted(reason: String)
        /// Only the application can decide.
        case undecided
    }
}
