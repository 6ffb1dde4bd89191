import Distributed
import Multipeer
import MultipeerActors

/// Scans tiles, here or in another process: whoever holds one does not see the difference, but for the time it takes.
///
/// One tile after the other is computed, as on any actor; while one waits for its light, others go on.
distributed actor Observatory {
    typealias ActorSystem = PeerActorSystem

    /// Under what it is found.
    static let key = "observatories"

    /// How much longer than others it takes.
    private let slowness: Duration
    private let onScan: @Sendable (Findings) -> Void

    init(
        slowness: Duration = .zero, actorSystem: PeerActorSystem,
        onScan: @escaping @Sendable (Findings) -> Void = { _ in }
    ) {
        (self.slowness, self.onScan) = (slowness, onScan)
        self.actorSystem = actorSystem
    }

    /// What is on the tile. Throws `Clouds` when there is nothing to be seen.
    distributed func scan(_ task: ScanTask) async throws -> Findings {
        try await Task.sleep(for: .milliseconds(task.exposure) + slowness)
        if task.isCloudy { throw Clouds(tile: task.tile.number) }
        let findings = Detection.findings(on: task.tile)
        onScan(findings)
        return findings
    }

    /// Makes a system on a session that knows observatories and their errors: what peers may call is said before they link.
    static func system(on session: Session) async throws -> PeerActorSystem {
        let system = try await PeerActorSystem(session)
        try system.register(Observatory.self)
        try system.register(error: Clouds.self)
        return system
    }
}
