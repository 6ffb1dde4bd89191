package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// The local side of every attempt: the properties of the session.
package struct LocalPeer: Sendable {
    package let peer: PeerID
    package let endpoint: Endpoint
    package let preference: EncryptionPreference
    /// Whether the session uses an identity of the application, not a key made for this session alone.
    package let hasIdentity: Bool
    /// The fingerprint of the session's certificate; nil when the preference is none.
    package let fingerprint: Fingerprint?
    package let limits: LinkLimits
    package let agent: String?
    /// The time that a user has for a trust decision, and that each side waits for the other's. Tests use a shorter one.
    package var decision = HandshakeTiming.decision
    /// Signs the session's entries in the mesh with the key of its certificate; nil without one. [mesh.signature]
    package var signer: Signer?
    /// Verifies the entries of others. A simulation replaces it.
    package var verifier = SignatureVerifier.standard

    package init(
        peer: PeerID, instance: UInt64, preference: EncryptionPreference, hasIdentity: Bool,
        fingerprint: Fingerprint?, limits: LinkLimits = .standard, agent: String? = nil
    ) {
        self.peer = peer
        self.endpoint = Endpoint(uid: peer.uid, instance: instance)
        self.preference = preference
        self.hasIdentity = hasIdentity
        self.fingerprint = fingerprint
        self.limits = limits
        self.agent = agent
    }

    package func outcome(with data: ConnectionData) -> EncryptionPreference.Outcome {
        .between(
            preference, identity: hasIdentity, and: data.preference, identity: data.flags.contains(.identity))
    }
}

/// A peer that the session expects: its connection data, and which of ours it may hold.
struct ExpectedPeer: Sendable {
    let data: ConnectionData
    /// The data that we had issued and that had not expired when this value was made, those for this peer first.
    let issued: [ConnectionData]
    let outcome: EncryptionPreference.Outcome
    /// Whether it was requested while the session had no room: it is notified when it sends its HELLO.
    var isDeclined = false

    var endpoint: Endpoint { data.endpoint }
    /// The certificate that it has to present; nil unless the outcome is TLS.
    var pin: CertificatePin? {
        guard outcome == .encrypted else { return nil }
        return data.fingerprint.map { CertificatePin($0, of: data.peer.uid) }
    }

    /// Returns the key of CONFIRM when the two sides use these data.
    func key(with issued: ConnectionData, weInitiate: Bool) -> SecureBytes {
        let (first, second) = weInitiate ? (issued, data) : (data, issued)
        return LinkConfirmation.key(initiator: first.token, responder: second.token)
    }
}

/// The properties of a connection below the frame layer once it is secured.
package struct SecuredChannel: Equatable, Sendable {
    /// The fingerprint of the peer's TLS certificate; nil on a plain connection.
    package let fingerprint: Fingerprint?
    /// The keyed uid that the key in the certificate hashes to; nil where no peer has a keyed uid.
    package let keyedUID: UID?
    /// The TLS exporter's 32 bytes, or 32 zeros on a plain connection. Spec 6.3.
    package let binding: [UInt8]
    package var isEncrypted: Bool { fingerprint != nil }

    package static let plain = SecuredChannel(
        fingerprint: nil, keyedUID: nil, binding: [UInt8](repeating: 0, count: 32))

    package static func encrypted(
        _ fingerprint: Fingerprint, keyedUID: UID? = nil, binding: [UInt8]
    ) -> SecuredChannel {
        SecuredChannel(fingerprint: fingerprint, keyedUID: keyedUID, binding: binding)
    }

    /// Returns whether this may be the peer's key: any may, unless its uid is keyed. A server accepts the certificates of
    /// all expected peers, and two of them may name the same one.
    func proves(_ uid: UID) -> Bool { !uid.isKeyed || keyedUID == uid }  // [uid.proof]

    func suits(_ expectedPeer: ExpectedPeer) -> Bool {
        switch expectedPeer.outcome {
        case .plain: !isEncrypted
        case .encrypted: isEncrypted
        case .refused: false
        }
    }
}

/// The timers of an attempt. Spec 15; `Spec/registries.json` holds the same numbers.
package enum HandshakeTiming {
    package static let attempt = Duration.seconds(30)
    /// For each step up to HELLO.
    package static let greeting = Duration.seconds(5)
    /// For all of them, on an accepted connection.
    package static let unproven = Duration.seconds(15)
    package static let decision = Duration.seconds(30)
    package static let selection = Duration.seconds(5)
    package static let higherDialDelay = Duration.milliseconds(500)
    package static let linkSettles = Duration.seconds(2)
    package static let probe = Duration.seconds(1)
    package static let lifetime = Duration.seconds(86_400)
    package static let meshRenewal = Duration.seconds(43_200)
    /// Data that expire within this are replaced when they are asked for; of a lifetime that is shorter than twice that, the half.
    package static let renewal = Duration.seconds(60)
}
