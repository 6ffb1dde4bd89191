import MultipeerSecurity
import MultipeerTransport

/// Asks a session's delegate whether a peer may connect.
final class Jury: Sendable {
    private struct State {
        weak var core: SessionCore?
    }

    private let state = Locked(State())

    func attach(_ core: SessionCore) { state.withLock { $0.core = core } }

    func decide(_ evidence: TrustEvidence) async -> Bool { true }
}
