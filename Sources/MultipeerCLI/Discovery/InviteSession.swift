import MultipeerCommandLine
import MultipeerEssentials

/// The session of `multipeer invite`, and the port that it shares with an advertiser.
struct InviteSession: Sendable {
    let session: Session
    let identity: Identity?
    let port: SharedPort

    var peer: PeerID { session.peer }

    init(_ arguments: Arguments, _ options: DiscoveryOptions) throws(CommandError) {
        let own = try PeerOptions(arguments)
        let port = try PortOption.port(arguments)
        let preference = try arguments.choice("--preference", of: ["required", "optional", "none"]) {
            ["required": EncryptionPreference.required, "optional": .optional, "none": .none][$0]
        }
        var configuration = Session.Configuration(identity: own.identity)
        configuration.encryption = preference ?? .required
        configuration.listenAddresses = options.selectedInterfaces.listenAddresses
        configuration.overrides.sharedPort = port
        configuration.maximumMessageSize = 65_536
        configuration.keyLog = options.keyLog
        session = try CommandError.translating { [configuration] () throws(MultipeerError) in
            try Session(peer: own.peer, configuration: configuration)
        }
        (identity, self.port) = (own.identity, port)
    }

    /// Disconnects from all peers gracefully, and waits until that is done.
    func leave() async { await session.disconnect() }
}
