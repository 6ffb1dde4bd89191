import Multipeer
import MultipeerCore
import MultipeerMesh
import MultipeerSecurity
import MultipeerTransport
import TestSupport

/// One session of a mesh, and the events of its application so far.
actor Member {
    nonisolated let session: Session
    nonisolated var peer: PeerID { session.peer }
    /// All states of each peer, in order.
    private(set) var heard: [PeerID: [PeerState]] = [:]
    private(set) var messages: [[UInt8]] = []

    /// With an identity, the peer has the keyed uid of its key.
    init(
        _ name: String, _ configuration: Session.Configuration = .loopback(), identity: Identity? = nil
    ) throws {
        var configuration = configuration
        if let identity { configuration.identity = identity }
        let peer =
            if let identity {
                try PeerID(displayName: name, identity: identity)
            } else {
                try PeerID(displayName: name)
            }
        session = try Session(peer: peer, configuration: configuration)
    }

    static func several(
        _ count: Int, _ configuration: Session.Configuration = .loopback()
    ) throws -> [Member] {
        try (0..<count).map { try Member("member \($0)", configuration) }
    }

    var connected: Set<PeerID> { Set(heard.filter { $0.value.last == .connected }.keys) }

    /// Takes events until this holds.
    func until(_ isSo: @Sendable (isolated Member) -> Bool) async {
        if isSo(self) { return }
        for await event in session.events {
            switch event {
            case .peer(let peer, let state): heard[peer, default: []].append(state)
            case .message(let message): messages.append(message.bytes)
            case .stream, .resource, .verificationRequested, .verified: break
            }
            if isSo(self) { return }
        }
    }

    func ends(of peer: PeerID) -> [DisconnectReason] {
        heard[peer, default: []].compactMap { if case .notConnected(let reason) = $0 { reason } else { nil } }
    }

    /// Lets both exchange mesh data and connect.
    func join(_ other: Member) async -> (Result<Void, MultipeerError>, Result<Void, MultipeerError>) {
        do {
            let (mine, theirs) = (
                try await session.connectionData(mesh: true),
                try await other.session.connectionData(mesh: true)
            )
            async let first = session.trying(theirs)
            async let second = other.session.trying(mine)
            return await (first, second)
        } catch {
            return (.failure(error), .failure(error))
        }
    }
}

extension [Member] {
    /// Lets each join the one before it.
    func joinInAChain() async {
        await withTaskGroup(of: Void.self) { group in
            for (one, next) in zip(self, dropFirst()) { group.addTask { _ = await one.join(next) } }
        }
    }

    /// Waits until all are linked with each other.
    func areAllLinked() async throws {
        let everyone = Set(map(\.peer))
        for member in self {
            try await within(.seconds(60)) {
                await member.until { $0.connected == everyone.subtracting([member.peer]) }
            }
        }
    }

    func end() async {
        await withTaskGroup(of: Void.self) { group in
            for member in self { group.addTask { await member.session.disconnect() } }
        }
    }
}
