import Multipeer

/// Keeps a session linked with all visible peers.
struct Gathering: Sendable {
    let session: Session
    let service: String
    let discovery: DiscoveryConfiguration
    /// Takes a sentence about a peer that does not link.
    let complain: @Sendable (String) -> Void

    /// Runs until the task is cancelled.
    func run() async throws {
        let browser = try Browser(peer: session.peer, service: service, configuration: discovery)
        try await browser.run(linking: session, timeout: .seconds(20)) { _ in
            true
        } onFailure: { peer, error in
            complain("cannot link with \(peer.name): \(error)")
        }
    }
}
