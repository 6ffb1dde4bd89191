import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh

// MARK: why links end

extension Observer {
    /// How long a fault or a decision explains what happens to a link: an attempt and what waits for it.
    private static let explained: Int64 = 45_000_000_000

    /// Something happened to a peer that may end its links.
    func noteTrouble(_ node: Int) { nodes[node].host.troubledAt = now }

    /// Whether something happened to one of the two that explains what has happened since.
    func isTroubled(_ one: Node, _ other: Node, since moment: Int64) -> Bool {
        max(one.host.troubledAt, other.host.troubledAt) + Observer.explained >= moment
    }

    /// A link ended. Without a fault, a decision of an application, a lie, or a mesh that is too large, nothing ends one.
    func watchCause(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, _ node: Node
    ) {
        guard socket.remote >= 0, liesSince == nil, !hasTwins else { return }
        let far = nodes[socket.remote]
        guard !isTroubled(node, far, since: linkState.since), !isForTheCap(reason) else { return }
        let receiver = reason.code == .protocolViolation ? node : far
        if reason.closeCode == .flow, isTooNarrow(socket.connection, for: receiver) { return }
        let age = (now - linkState.since) / 1_000_000
        fail(.cause, "\(name(socket)) ended after \(age) ms, for nothing: \(reason)")
    }

    /// So little message credit, and so long a way, that whoever uses it up in each round trip still brings less than a link
    /// with the turn has to. [limit.turn]
    func isTooNarrow(_ connection: SimulatedConnection, for receiver: Node) -> Bool {
        let roundTrip = connection.inFlight.reduce(0) { $0 + NetworkConditions.longestUsual(base: $1.base) }
        return Int64(receiver.profile.credit) * Observer.turn < Observer.turnProgress * roundTrip
    }

    private static let turn: Int64 = 5_000_000_000
    private static let turnProgress: Int64 = 65_536

    /// How long a peer is sought at least when nobody gives up.
    private static let attempt: Int64 = 25_000_000_000

    /// A link was lost before the other end had it: the attempt that made it goes on. A connection that somebody meddled
    /// with is left out: there it may take longer than the attempt.
    func watchResumption(
        _ socket: SimulatedSocket, _ linkState: LinkState, _ reason: DisconnectReason, _ node: Node
    ) {
        guard reason.code == .lost, socket.remote >= 0, !socket.connection.record.isWhole,
            !socket.connection.isForged, !node.engine.isLeaving, liesSince == nil, !hasTwins,
            let began = linkState.connectingSince, now - began < Observer.attempt
        else { return }
        if !node.engine.mesh.awaits(linkState.peer.uid) {
            fail(
                .outcomes, "\(name(socket)) was lost before its other end had it, and nobody is sought for it"
            )
        }
    }

    /// Only a world with more peers than a mesh takes knows these endings. FULL on one connection ends the attempt, and with
    /// it the connection that its other end has just linked: CANCELLED.
    private func isForTheCap(_ reason: DisconnectReason) -> Bool {
        guard nodes.count > cap else { return false }
        return reason.code == .full || [.full, .unknownPeer, .cancelled].contains(reason.closeCode)
    }

    private var hasTwins: Bool {
        nodes.contains { if case .twin = $0.profile.role { true } else { false } }
    }
}
