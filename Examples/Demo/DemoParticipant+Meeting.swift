import Multipeer

/// How a peer of the demonstration links with the others: it advertises itself, invites every peer that it finds, and accepts
/// every invitation.
extension DemoParticipant {
    func meet() async throws(MultipeerError) -> [DemoReport] {
        Task { await self.admit() }
        Task { await self.watch() }
        try await advertiser.start()
        try await browser.start()
        Task { await self.connect() }
        return []
    }

    private func admit() async {
        for await invitation in advertiser.invitations {
            try? await report(.invited(by: invitation.inviter.displayName))
            // The inviter retries, and reports a failure.
            Task { try? await invitation.accept(into: self.session) }
        }
    }

    private func watch() async {
        for await case .found(let found) in browser.events {
            try? await report(.found(peer: found.peer.displayName))
        }
    }

    private func connect() async {
        let me = session.peer
        do throws(MultipeerError) {
            try await browser.run(
                linking: session, timeout: .seconds(20),
                onFailure: { [self] _, error in
                    // What may pass is tried again; the demonstration has the timeout.
                    guard [.declined, .incompatible].contains(error.code) else { return }
                    try? await report(.failed(text: "\(me): \(error.description)"))
                })
        } catch {
            try? await report(.failed(text: "\(me): \(error.description)"))
        }
    }

    func reportLink(to peer: PeerID) async {
        guard let facts = await session.connectionInfo(for: peer) else { return }
        try? await report(
            .linked(
                DemoLink(
                    peer: peer.displayName, isEncrypted: facts.isEncrypted, suite: facts.cipherSuite,
                    verification: "\(facts.verification)")))
    }
}
