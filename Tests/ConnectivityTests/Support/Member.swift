@preconcurrency import MultipeerConnectivity
import MultipeerTransport

/// One session on loopback, with a delegate that notes everything.
final class Member: Sendable {
    let peer: MCPeerID
    let session: MCSession
    let recorder = Recorder()

    init(
        _ name: String, _ preference: MCEncryptionPreference = .required, identity: [Any]? = nil,
        configuration: Session.Configuration = Member.loopback
    ) {
        peer = MCPeerID(displayName: name)
        session = MCSession(
            peer: peer, securityIdentity: identity, encryptionPreference: preference,
            configuration: configuration)
        session.delegate = recorder
    }

    /// Exchanges connection data, and lets both connect; does not wait for the result.
    func dial(_ other: Member) async throws {
        let mine = try await session.nearbyConnectionData(forPeer: other.peer)
        let theirs = try await other.session.nearbyConnectionData(forPeer: peer)
        session.connectPeer(other.peer, withNearbyConnectionData: theirs)
        other.session.connectPeer(peer, withNearbyConnectionData: mine)
    }

    /// The same, and waits until both are connected.
    func connect(_ other: Member) async throws {
        try await dial(other)
        try await recorder.hears(.connected, of: other.peer)
        try await other.recorder.hears(.connected, of: peer)
    }

    /// Listens on 127.0.0.1 alone, so that nothing leaves the machine.
    static var loopback: Session.Configuration {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        return configuration
    }

    /// Returns two members that are connected.
    static func pair(
        _ preference: MCEncryptionPreference = .required,
        configuration: Session.Configuration = Member.loopback
    ) async throws -> (Member, Member) {
        let ann = Member("ann", preference, configuration: configuration)
        let bob = Member("bob", preference, configuration: configuration)
        try await ann.connect(bob)
        return (ann, bob)
    }
}

extension Session.Configuration {
    /// The framework's own limits, on 127.0.0.1 alone.
    static var facadeOnLoopback: Session.Configuration {
        var configuration = Session.Configuration.facade
        configuration.listenAddresses = [.loopback]
        return configuration
    }
}
