import Multipeer
import MultipeerActors
import MultipeerCore
import MultipeerTransport
import TestSupport
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

    static func alone(
        _ name: String, _ change: (inout Configuration) -> Void
    ) async throws -> PeerActorSystem {
        var configuration = Configuration()
        change(&configuration)
        return try await alone(name, configuration)
    }

    func link(to other: PeerActorSystem) async throws { try await session.link(to: other.session) }
}

extension Session {
    static func onLoopback(_ name: String) throws -> Session {
        var configuration = Session.Configuration()
        configuration.listenAddresses = [.loopback]
        return try Session(peer: PeerID(displayName: name), configuration: configuration)
    }

    nonisolated func link(to other: Session) async throws {
        let (mine, theirs) = (try await connectionData(), try await other.connectionData())
        async let first: Void = connect(with: theirs)
        async let second: Void = other.connect(with: mine)
        _ = try await (first, second)
    }
}

extension Session {
    /// Returns the first answer of an actor system, at a session that has none.
    nonisolated func firstAnswer() async throws -> Envelope.Answer {
        for await event in events {
            guard case .message(let message) = event else { continue }
            let envelope = try message.withBytes { bytes throws(EnvelopeFault) in try Envelope(bytes) }
            if case .answer(_, let answer) = envelope { return answer }
        }
        throw Overdue()
    }
}

/// Waits until the condition holds, for changes without a notification.
func ending(_ isSo: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while !isSo() {
        guard .now < end else { throw Overdue() }
        try await Task.sleep(for: .milliseconds(5))
    }
}
