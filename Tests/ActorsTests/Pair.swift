import Multipeer
import MultipeerActors
import MultipeerIntroduction
import MultipeerMesh
import MultipeerTransport
import Testing

/// Two sessions of this process on loopback, linked, with a system each.
struct Pair: Sendable {
    let ann: PeerActorSystem
    let bob: PeerActorSystem

    /// `prepare` registers, before they are linked.
    init(
        ann: PeerActorSystem.Configuration = .init(), bob: PeerActorSystem.Configuration = .init(),
        _ prepare: (PeerActorSystem) throws -> Void = { _ in }
    ) async throws {
        self.ann = try await .alone("ann", ann)
        self.bob = try await .alone("bob", bob)
        try prepare(self.ann)
        try prepare(self.bob)
        try await self.ann.link(to: self.bob)
    }

    func end() async {
        async let first: Void = ann.session.disconnect()
        async let second: Void = bob.session.disconnect()
        _ = await (first, second)
    }
}

extension PeerActorSystem {
    static func alone(_ name: String, _ configuration: Configuration = .init()) async throws
        -> PeerActorSystem
    {
        try await PeerActorSystem(.onLoopback(name), configuration: configuration)
    }

    func link(to other: PeerActorSystem) async throws { try await session.link(to: other.session) }
}

extension Session {
    static func onLoopback(_ name: String) throws -> Session {
        var configuration = SessionConfiguration()
        configuration.listening = [.loopback]
        return try Session(peer: PeerID(displayName: name), configuration: configuration)
    }

    nonisolated func link(to other: Session) async throws {
        let (mine, theirs) = (try await connectionData(), try await other.connectionData())
        async let first: Void = connect(with: theirs)
        async let second: Void = other.connect(with: mine)
        _ = try await (first, second)
    }
}

/// The time of a test is over, and what it waited for has not come.
struct Overdue: Error {}

/// Waits for the body at most so long; then the body's task is cancelled.
func within<Value: Sendable>(
    _ patience: Duration = .seconds(30), _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: patience)
            throw Overdue()
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw Overdue() }
        return first
    }
}
