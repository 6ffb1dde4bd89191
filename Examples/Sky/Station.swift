import Foundation
import Multipeer
import MultipeerActors

/// An observatory, and the session in which others find it.
struct Station: Sendable {
    let session: Session
    let system: PeerActorSystem
    let observatory: Observatory
    private let service: String
    private let discovery: DiscoveryConfiguration

    /// Creates a station that is not on the network yet. With `isLocal` it stays on this machine.
    init(
        name: String, service: String, isLocal: Bool, slowness: Duration = .zero,
        onScan: @escaping @Sendable (Findings) -> Void = { _ in }
    ) async throws {
        discovery = isLocal ? .loopback : .standard
        self.service = service
        var configuration = Session.Configuration()
        configuration.listenAddresses = discovery.listenAddresses
        session = try Session(peer: PeerID(displayName: name), configuration: configuration)
        system = try await Observatory.system(on: session)
        observatory = Observatory(slowness: slowness, actorSystem: system, onScan: onScan)
        try system.receptionist.checkIn(observatory, as: Observatory.key)
    }

    /// Advertises, and accepts every invitation, until the task is cancelled.
    func receive() async throws {
        let advertiser = try Advertiser(peer: session.peer, service: service, configuration: discovery)
        try await advertiser.start()
        await withDiscardingTaskGroup { group in
            for await invitation in advertiser.invitations {
                group.addTask {
                    do {
                        try await invitation.accept(into: session)
                    } catch {
                        Terminal.complain(
                            "the invitation from \(invitation.inviter.name) failed: \(error)")
                    }
                }
            }
        }
        await advertiser.stop()
        if !Task.isCancelled { throw NotFound() }
    }

    /// The error when the advertisement has ended.
    struct NotFound: Error, CustomStringConvertible {
        let description = "this process is no longer advertised"
    }

    /// Browses and invites all peers that it finds, until the task is cancelled. `complain` takes a sentence about a
    /// peer that does not link.
    func gather(_ complain: @escaping @Sendable (String) -> Void) async throws {
        try await Gathering(session: session, service: service, discovery: discovery, complain: complain)
            .run()
    }

    func close() async { await session.disconnect() }
}

extension PeerID {
    /// The display name, safe for a terminal.
    var name: String { displayName.printable }
}
