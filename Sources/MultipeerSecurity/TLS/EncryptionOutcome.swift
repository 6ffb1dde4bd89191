/// How two sessions talk to each other. Both compute it from the two preferences; nothing is negotiated on
/// the wire, so there is nothing to downgrade there. Spec 5.1.
public enum EncryptionOutcome: Sendable, Hashable, CaseIterable {
    /// Unencrypted, by the wish of at least one side and the consent of the other.
    case plain
    /// TLS 1.3 with both keys pinned.
    case encrypted
    /// One side never encrypts and the other never goes without: there is no link.
    case refused

    /// The outcome for two sessions, the same from either end.
    ///
    /// - Parameters:
    ///   - one: what the first session prefers.
    ///   - oneHasIdentity: whether the first session was given an identity by its application.
    ///   - other: what the second session prefers.
    ///   - otherHasIdentity: whether the second session was given an identity by its application.
    /// - Returns: what both ends do, without asking each other.
    public static func between(
        _ one: EncryptionPreference, identity oneHasIdentity: Bool,
        and other: EncryptionPreference, identity otherHasIdentity: Bool
    ) -> EncryptionOutcome {
        let pair = (
            effective(one, identity: oneHasIdentity), effective(other, identity: otherHasIdentity)
        )
        return switch pair {  // [enc.outcome] [enc.required]
        case (.none, .required), (.required, .none): .refused
        case (.none, _), (_, .none): .plain
        case (.optional, .optional), (.optional, .required), (.required, .optional),
            (.required, .required):
            .encrypted
        }
    }

    /// A session that has an identity wants it to be seen, so it never settles for a plain link by default.
    private static func effective(
        _ preference: EncryptionPreference, identity: Bool
    ) -> EncryptionPreference {
        identity && preference == .optional ? .required : preference  // [enc.identity]
    }
}

extension EncryptionOutcome: CustomStringConvertible {
    /// "plain", "encrypted" or "refused".
    public var description: String {
        switch self {
        case .plain: "plain"
        case .encrypted: "encrypted"
        case .refused: "refused"
        }
    }
}
