import Multipeer

/// How a peer of the demonstration links with the others: it advertises itself, invites every peer that it finds, and accepts
/// every invitation.
extension DemoParticipant {
    private static let timeout = Duration.seconds(20)
    private static let pause = Duration.milliseconds(250)

    func meet() async throws(MultipeerError) -> [DemoReport] {
        Task { await self.admit() }
        Task { await self.connect() }
        try await advertiser.start()
        try await browser.start()
        return []
    }

    private func admit() async {
        for await invitation in advertiser.invitations {
            try? await report(.invited(by: invitation.inviter.displayName))
            // The inviter retries, and reports a failure.
            Task { try? await invitation.accept(into: self.session) }
        }
    }

    private func connect() async {
        let (found, queue) = AsyncStream<PeerID>.makeStream()
        // One after the other: a peer that was linked meanwhile need not be invited.
        let inviting = Task {
            for await peer in found where await !self.invite(peer) {
                Task {
                    try? await Task.sleep(for: DemoParticipant.pause)
                    queue.yield(peer)
                }
            }
        }
        for await event in browser.events {
            guard case .found(let found) = event else { continue }
            try? await report(.found(peer: found.peer.displayName))
            queue.yield(found.peer)
        }
        inviting.cancel()
    }

    /// Returns whether the invitation is settled. If not, it is retried; the demonstration has the timeout.
    private func invite(_ peer: PeerID) async -> Bool {
        if await session.connectedPeers.contains(peer) { return true }
        do throws(MultipeerError) {
            try await browser.invite(peer, to: session, timeout: DemoParticipant.timeout)
            return true
        } catch {
            if await session.connectedPeers.contains(peer) { return true }
            guard [.declined, .incompatible].contains(error.code) else { return false }
            try? await report(.failed(text: "\(session.peer): \(error.description)"))
            return true
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
