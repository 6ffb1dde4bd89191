import Multipeer
import Testing

/// Two sessions of this process on loopback, with real sockets and real TLS.
struct Meeting {
    let ann: Session
    let bob: Session

    init(
        ann: SessionConfiguration = .loopback(), bob: SessionConfiguration = .loopback()
    ) throws {
        self.ann = try Session(peer: PeerID(displayName: "ann"), configuration: ann)
        self.bob = try Session(peer: PeerID(displayName: "bob"), configuration: bob)
    }

    /// Swaps connection data and connects both at once; throws the first refusal.
    func link() async throws {
        let (annsData, bobsData) = (try await ann.connectionData(), try await bob.connectionData())
        async let first: Void = ann.connect(with: ConnectionData(bobsData.bytes))
        async let second: Void = bob.connect(with: ConnectionData(annsData.bytes))
        _ = try await (first, second)
    }

    func end() async {
        async let first: Void = ann.disconnect()
        async let second: Void = bob.disconnect()
        _ = await (first, second)
    }
}

extension SessionConfiguration {
    /// Listens on 127.0.0.1 alone, so that nothing leaves the machine.
    static func loopback(
        _ preference: EncryptionPreference = .required, identity: Identity? = nil, patience: Duration = .seconds(10)
    ) -> SessionConfiguration {
        var configuration = SessionConfiguration(preference: preference, identity: identity)
        configuration.listening = [.loopback]
        configuration.patience = patience
        return configuration
    }
}

extension SessionEvents {
    /// The first message that arrives.
    func firstMessage() async -> [UInt8]? {
        for await event in self {
            if case .message(let message) = event { return message.bytes }
        }
        return nil
    }

    /// The reason of the first end of a link.
    func firstEnd() async -> EndReason? {
        for await event in self {
            if case .peer(_, .notConnected(let reason)) = event { return reason }
        }
        return nil
    }
}
