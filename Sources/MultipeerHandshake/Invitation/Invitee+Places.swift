package import MultipeerCore
import MultipeerFraming

// MARK: admission

extension Invitee {
    /// The result of the check whether an invitation may wait for its answer.
    enum InvitationAdmission: Equatable {
        case none
        /// Admitted, replacing the connection of the inviter's earlier invitation.
        case instead(ConnectionID, PendingQuestion)
        /// Admitted, possibly by evicting another.
        case free(evicting: ConnectionID?)
    }

    func place(for inviter: UID, from origin: [UInt8]) -> InvitationAdmission {
        if let known = held.first(where: { $0.waiting.inviter == inviter }) {
            // From another address it may be any host: uids are not secret, and the answer is for the original inviter.
            guard !known.isAgreed, known.origin == origin else { return .none }  // [invite.pending]
            return .instead(known.id, known.waiting)
        }
        let own = held.count { $0.origin == origin }
        guard own < InvitationLimits.pendingPerAddress else { return .none }  // [invite.pending]
        guard held.count >= InvitationLimits.pending else { return .free(evicting: nil) }
        return evictable(holdingMoreThan: own + 1).map { .free(evicting: $0) } ?? .none
    }

    /// Returns the newest question of the address that holds the most places, if that is more than the new one's would.
    /// [invite.pending]
    private func evictable(holdingMoreThan count: Int) -> ConnectionID? {
        let byOrigin = Dictionary(grouping: held, by: \.origin)
        let most = byOrigin.values.map(\.count).max() ?? 0
        guard most > count else { return nil }
        return byOrigin.values.filter { $0.count == most }.joined()
            .filter { !$0.isAgreed }
            .max { $0.waiting.question < $1.waiting.question }?.id
    }

    /// Drops the oldest unauthenticated connection from this address when there are too many. [invite.pending]
    mutating func dropUnauthenticated(like origin: [UInt8]) {
        let unauthenticated = connections.filter { $0.value.isUnauthenticated }
        let alike = unauthenticated.filter { $0.value.origin == origin }.keys.sorted()
        if alike.count > InvitationLimits.unauthenticatedPerAddress {
            end(alike[0], .busy, .withdrawn)
        } else if unauthenticated.count > InvitationLimits.unauthenticated,
            let oldest = unauthenticated.keys.min()
        {
            end(oldest, .busy, .withdrawn)
        }
    }

    /// One place that an invitation occupies.
    struct InvitationSlot {
        let id: ConnectionID
        let origin: [UInt8]
        let waiting: PendingQuestion
        let isAgreed: Bool
    }

    /// The places in the order of their connections.
    var held: [InvitationSlot] {
        connections.sorted { $0.key < $1.key }.compactMap { id, connection in
            switch connection.phase {
            case .securing, .greeting: nil
            case .asking(let waiting):
                InvitationSlot(id: id, origin: connection.origin, waiting: waiting, isAgreed: false)
            case .agreed(let waiting, _):
                InvitationSlot(id: id, origin: connection.origin, waiting: waiting, isAgreed: true)
            }
        }
    }
}

extension Invitee.Connection {
    var isUnauthenticated: Bool { phase == .securing || phase == .greeting }
}

// MARK: phases

extension Invitee {
    /// Returns the phase of a connection; nil once it has ended.
    package func phase(of id: ConnectionID) -> Phase? { connections[id]?.phase }
}
