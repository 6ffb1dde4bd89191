extension EncryptionPreference {
    /// How two sessions communicate. Both compute it from the two preferences; nothing is negotiated on the wire,
    /// so nothing can be downgraded there. Spec 5.1.
    package enum Outcome: Sendable, Hashable, CaseIterable {
        /// Unencrypted: at least one side prefers it and the other permits it.
        case plain
        /// TLS 1.3 with both keys pinned.
        case encrypted
        /// One side never encrypts and the other requires encryption: there is no link.
        case refused

        /// Returns the outcome for two sessions, the same from either end.
        ///
        /// - Parameters:
        ///   - one: what the first session prefers.
        ///   - oneHasIdentity: whether the first session was given an identity by its application.
        ///   - other: what the second session prefers.
        ///   - otherHasIdentity: whether the second session was given an identity by its application.
        /// - Returns: what both ends do, without negotiation.
        package static func between(
            _ one: EncryptionPreference, identity oneHasIdentity: Bool,
            and other: EncryptionPreference, identity otherHasIdentity: Bool
        ) -> EncryptionPreference.Outcome {
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

        /// Returns the effective preference: a session that has an identity is meant to be authenticated, so it
        /// does not accept a plain link by default.
        private static func effective(
            _ preference: EncryptionPreference, identity: Bool
        ) -> EncryptionPreference {
            identity && preference == .optional ? .required : preference  // [enc.identity]
        }
    }
}

extension EncryptionPreference.Outcome: CustomStringConvertible {
    /// "plain", "encrypted" or "refused".
    package var description: String {
        switch self {
        case .plain: "plain"
        case .encrypted: "encrypted"
        case .refused: "refused"
        }
    }
}
