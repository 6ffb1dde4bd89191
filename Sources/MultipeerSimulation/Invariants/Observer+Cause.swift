import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

// MARK: why links end

extension Observer {
    /// How long a fault or a decision can explain what happens to a link: a link attempt and what waits for it.
    private static let explained: Int64 = 45_000_000_000

    /// Notes that something happened to a peer that may end its links.
    func noteTrouble(_ node: Int) { nodes[node].host.troubledAt = now }

    /// Returns whether something has happened to either node since `moment` that may have ended its links.
    func isTroubled(_ one: Node, _ other: Node, since moment: Int64) -> Bool {
        max(one.host.troubledAt, other.host.troubledAt) + Observer.explained >= moment
    }

    /// Checks a link that ended: only a fault, an application's decision, a Byzantine peer or a mesh that is too large may
    /// end one.
    func watchCause(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, _ node: Node
    ) {
        guard socket.remote >= 0, liesSince == nil, !hasTwins else { return }
        let far = nodes[socket.remote]
        guard !isTroubled(node, far, since: linkState.since), !isForTheCap(reason) else { return }
        let age = (now - linkState.since) / 1_000_000
        fail(.cause, "\(name(socket)) ended after \(age) ms without a cause: \(reason)")
    }

    /// The minimum length of a link attempt that neither application cancels.
    private static let attempt = Duration.seconds(25)

    /// Returns when the attempt of this node to connect to `uid` ends at the earliest; nil if there is none.
    func attemptEnd(_ uid: UID, _ node: Node) -> Moment? {
        guard let began = node.application.connecting[uid] else { return nil }
        // An invitation's attempt ends with the invitation.
        let invitation = node.application.invitationEnds[uid].flatMap { $0 > began ? $0 : nil }
        return min(began + Observer.attempt, invitation ?? .distantFuture)
    }

    /// Checks that the link attempt goes on when its link was lost before the other end had it, for as long as it lasts
    /// by the clock of this end, which may have jumped. A connection that was tampered with is left out: it may outlast the
    /// attempt.
    func watchResumption(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, _ node: Node
    ) {
        guard reason.code == .lost, socket.remote >= 0, !socket.connection.record.isWhole,
            !socket.connection.isForged, !node.engine.isLeaving, liesSince == nil, !hasTwins,
            let end = linkState.attemptEnd, moment(node) < end
        else { return }
        if !node.engine.mesh.awaits(linkState.peer.uid) {
            fail(
                .outcomes, "\(name(socket)) was lost before its other end had it, but is not dialled"
            )
        }
    }

    /// Returns whether the cap ended the link: only a world with more peers than a mesh takes has these endings. FULL on one
    /// connection ends the attempt, and with it the connection that its other end has just linked: CANCELLED.
    private func isForTheCap(_ reason: DisconnectReason) -> Bool {
        guard nodes.count > cap else { return false }
        return reason.code == .full || [.full, .unknownPeer, .cancelled].contains(reason.closeCode)
    }

    private var hasTwins: Bool {
        nodes.contains { if case .twin = $0.profile.role { true } else { false } }
    }
}
