import MultipeerSecurity
package import MultipeerTransport

extension Session.Configuration {
    /// The configuration of this framework's sessions: the process's defaults, with Apple's limit of eight, and with more room for
    /// messages and streams, for which Apple documents no limits.
    package static var facade: Session.Configuration {
        var configuration = Session.Configuration()
        configuration.listenAddresses = DiscoveryConfiguration.standard.listenAddresses
        configuration.maximumPeers = kMCSessionMaximumNumberOfPeers
        configuration.maximumMessageSize = 64 << 20
        configuration.maximumStreams = 128
        return configuration
    }
}

extension EncryptionPreference {
    init(_ preference: MCEncryptionPreference) {
        switch preference {
        case .optional: self = .optional
        case .required: self = .required
        case .none: self = .none
        }
    }
}

extension MCSession {
    static func configuration(
        _ configuration: Session.Configuration, _ identity: [Any]?, _ preference: MCEncryptionPreference
    ) -> Result<Session.Configuration, MCError> {
        MCIdentity.native(identity).map { identity in
            var configuration = configuration
            configuration.encryption = EncryptionPreference(preference)
            configuration.identity = identity
            return configuration
        }
    }
}
