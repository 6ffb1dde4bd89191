import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerSecurity

// The session as its peers see it.
extension Session.Configuration {
    var engine: SessionEngineConfiguration {
        SessionEngineConfiguration(
            peers: maximumPeers,
            timing: Liveness.Timing(keepAliveInterval: keepAliveInterval, idleTimeout: idleTimeout),
            isStar: topology == .star,
            takesDatagrams: allowsDatagrams, datagramTiming: overrides.datagramTiming)
    }

    /// The port that the session shares with other uses of the process; nil when the system chooses one. A simulated machine chooses.
    var sharedPort: SharedPort? {
        overrides.host == nil ? overrides.sharedPort ?? SharedPort.named(port) : nil
    }

    static let agent = "swift-multipeer/\(LibraryVersion.text)"

    /// Returns the identity that this side presents, with its TLS context; neither when the preference is none. Throws when the
    /// uid is keyed, and of another identity.
    func credentials(of uid: UID) throws(SecurityFault) -> (Identity?, TLSContext?) {
        try Identity.check(encryption == .none ? nil : self.identity, for: uid)
        guard encryption != .none else { return (nil, nil) }
        let identity: Identity  // [key.ephemeral]
        if let own = self.identity { identity = own } else { identity = try Identity.generated() }
        return (identity, try TLSContext(identity: identity, keyLog: keyLog))
    }

    /// Returns what signs the session's entries in a mesh; nil when the preference is none, and for a star, which makes no
    /// entries. [mesh.certificate]
    func signer(_ identity: Identity?) throws(SecurityFault) -> Signer? {
        guard let identity, topology == .mesh else { return nil }
        return try Signer(identity, certificateLimit: Limits.entryCertificate)
    }

    /// Makes a new instance each time: what was sent to the old one cannot reach the new one. [endpoint.instance]
    func local(
        _ peer: PeerID, _ fingerprint: Fingerprint?, _ signer: Signer?,
        using randomness: inout SystemRandomness
    ) -> LocalPeer {
        var limits = LinkLimits.standard
        limits.maxMessage = UInt64(maximumMessageSize)
        limits.maxChannels = UInt32(maximumStreams)
        limits.messageCredit = overrides.messageCredit
        limits.channelCredit = overrides.channelCredit
        var local = LocalPeer(
            peer: peer, instance: randomness.next(), preference: encryption, hasIdentity: identity != nil,
            fingerprint: fingerprint, limits: limits, agent: Session.Configuration.agent)
        local.decision = overrides.decision
        local.signer = signer
        return local
    }

    /// Returns the addresses at which others can reach a session that listens at `listening`.
    func candidates(listeningAt listening: [SocketAddress]) throws(SessionFault) -> [Candidate] {
        let addresses = advertisedAddresses.isEmpty ? listening : advertisedAddresses
        let candidates = Array(addresses.compactMap { Candidate($0) }.prefix(Limits.candidates))
        guard !candidates.isEmpty else { throw .noAddress }
        return overrides.advertising?(candidates) ?? candidates
    }
}
