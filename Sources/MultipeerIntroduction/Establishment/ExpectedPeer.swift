package import MultipeerCore
package import MultipeerFraming
package import MultipeerSecurity

/// What one side of every attempt says of itself: the session's own facts.
package struct LocalPeer: Sendable {
    package let peer: PeerID
    package let endpoint: Endpoint
    package let preference: EncryptionPreference
    /// The session uses an identity of the application's, not a key made for this session alone.
    package let hasIdentity: Bool
    /// Of the session's certificate; nil when the preference is none.
    package let fingerprint: Fingerprint?
    package let limits: LinkLimits
    package let agent: String?
    /// How long a person who is asked for trust has, and each side waits for the other's answer. A test is less patient.
    package var decision = HandshakeTiming.decision

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

    package func outcome(with data: ConnectionData) -> EncryptionOutcome {
        .between(
            preference, identity: hasIdentity, and: data.preference, identity: data.flags.contains(.identity))
    }
}

/// A peer that the session awaits: its connection data, and which of ours it may hold.
struct ExpectedPeer: Sendable {
    let data: ConnectionData
    /// What we issued and had not let expire when this value was made, the one meant for this very peer first.
    let issued: [ConnectionData]
    let outcome: EncryptionOutcome
    /// Asked for while there was no seat: it is told so when it greets.
    var isDeclined = false

    var endpoint: Endpoint { data.endpoint }

    /// What CONFIRM is made with if the two sides speak of these data.
    func key(with issued: ConnectionData, weInitiate: Bool) -> SecureBytes {
        let (first, second) = weInitiate ? (issued, data) : (data, issued)
        return LinkConfirmation.key(initiator: first.token, responder: second.token)
    }
}

/// What is known of a connection below the frames once it is secured.
package struct SecuredChannel: Equatable, Sendable {
    /// Of the certificate that TLS showed; nil on a plain connection.
    package let fingerprint: Fingerprint?
    /// The TLS exporter's 32 bytes, or 32 zeros on a plain connection. Spec 6.3.
    package let binding: [UInt8]
    package var isEncrypted: Bool { fingerprint != nil }

    package static let plain = SecuredChannel(fingerprint: nil, binding: [UInt8](repeating: 0, count: 32))

    package static func encrypted(_ fingerprint: Fingerprint, binding: [UInt8]) -> SecuredChannel {
        SecuredChannel(fingerprint: fingerprint, binding: binding)
    }

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
    package static let greeting = Duration.seconds(5)
    package static let decision = Duration.seconds(30)
    package static let selection = Duration.seconds(5)
    package static let higherDialDelay = Duration.milliseconds(500)
    package static let linkSettles = Duration.seconds(2)
    package static let probe = Duration.seconds(2)
    /// A deadline that is noticed so late means that the process slept.
    package static let clockGap = Duration.seconds(5)
    /// How long a probed link has, after a sleep, to show itself.
    package static let resumeGrace = Duration.seconds(3)
    package static let lifetime = Duration.seconds(86_400)
    package static let meshRenewal = Duration.seconds(43_200)
}
