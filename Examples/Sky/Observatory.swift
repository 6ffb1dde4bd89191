import Distributed
import Multipeer
import MultipeerActors

/// Scans tiles, here or in another process: the caller sees no difference, except for the time that it takes.
///
/// Tiles are computed one after the other, as on any actor; while one waits for its light, others go on.
distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    /// The key under which it is found.
    static let key = "observatories"

    /// The extra time that it takes for each tile.
    private let slowness: Duration
    private let onScan: @Sendable (Findings) -> Void

    init(
        slowness: Duration = .zero, actorSystem: PeerActorSystem,
        onScan: @escaping @Sendable (Findings) -> Void = { _ in }
    ) {
        (self.slowness, self.onScan) = (slowness, onScan)
        self.actorSystem = actorSystem
    }

    /// Returns what is on the tile. Throws `Clouds` when nothing can be seen.
    distributed func scan(_ task: ScanTask) async throws -> Findings {
        try await Task.sleep(for: .milliseconds(task.exposure) + slowness)
        if task.isCloudy { throw Clouds(tile: task.tile.number) }
        let findings = Detection.findings(on: task.tile)
        onScan(findings)
        return findings
    }

    /// Creates a system on a session that knows observatories and their errors: what peers may call is registered before
    /// they link.
    static func system(on session: Session) async throws -> PeerActorSystem {
        let system = try await PeerActorSystem(session)
        try system.register(Observatory.self)
        try system.register(error: Clouds.self)
        return system
    }
}
