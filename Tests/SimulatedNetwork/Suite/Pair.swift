import Multipeer
import MultipeerSimulation

/// Two machines with a session each, linked.
struct Pair: Sendable {
    let network: SimulatedNetwork
    let (annsHost, bobsHost): (SimulatedNetwork.Host, SimulatedNetwork.Host)
    let (ann, bob): (Session, Session)

    init(
        on network: SimulatedNetwork, preference: EncryptionPreference = .required,
        _ change: (inout Session.Configuration) -> Void = { _ in }
    ) async throws {
        self.network = network
        (annsHost, bobsHost) = (try network.host("ann"), try network.host("bob"))
        var configuration = Session.Configuration(encryption: preference)
        change(&configuration)
        ann = try Session(peer: annsHost.peer, configuration: annsHost.session(configuration))
        bob = try Session(peer: bobsHost.peer, configuration: bobsHost.session(configuration))
        let mine = try await ann.connectionData(for: bobsHost.peer)
        let theirs = try await bob.connectionData(for: annsHost.peer)
        async let linked: Void = bob.connect(with: mine)
        try await ann.connect(with: theirs)
        try await linked
    }
}

extension Session {
    /// The next messages, as text.
    func messages(_ count: Int) async -> [String] {
        var found: [String] = []
        for await case .message(let message) in events {
            found.append(String(decoding: message.bytes, as: UTF8.self))
            if found.count == count { break }
        }
        return found
    }

    /// Why the next link that ends does.
    func nextEnd() async -> DisconnectReason? {
        for await case .peer(_, .notConnected(let reason)) in events { return reason }
        return nil
    }
}
