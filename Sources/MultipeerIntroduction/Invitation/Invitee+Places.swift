package import MultipeerCore
import MultipeerFraming

// MARK: who may wait

extension Invitee {
    /// Whether an invitation may wait for its answer.
    enum InvitationAdmission: Equatable {
        case none
        /// On the connection that its inviter's earlier one has now.
        case instead(ConnectionID, PendingQuestion)
        /// Perhaps in the place of another.
        case free(evicting: ConnectionID?)
    }

    func place(for inviter: UID, from origin: [UInt8]) -> InvitationAdmission {
        if let known = held.first(where: { $0.waiting.inviter == inviter }) {
            // From elsewhere it may be anybody: uids are no secrets, and the answer belongs to who was asked about.
            guard !known.isAgreed, known.origin == origin else { return .none }  // [invite.pending]
            return .instead(known.id, known.waiting)
        }
        let own = held.count { $0.origin == origin }
        guard own < InvitationLimits.pendingPerAddress else { return .none }  // [invite.pending]
        guard held.count >= InvitationLimits.pending else { return .free(evicting: nil) }
        return evictable(holdingMoreThan: own + 1).map { .free(evicting: $0) } ?? .none
    }

    /// The newest question of the address that holds the most places, if that is more than the newcomer's would. [invite.pending]
    private func evictable(holdingMoreThan count: Int) -> ConnectionID? {
        let byOrigin = Dictionary(grouping: held, by: \.origin)
        let most = byOrigin.values.map(\.count).max() ?? 0
        guard most > count else { return nil }
        return byOrigin.values.filter { $0.count == most }.joined()
            .filter { !$0.isAgreed }
            .max { $0.waiting.question < $1.waiting.question }?.id
    }

    /// One more stranger came from this address: the oldest goes. [invite.pending]
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

    /// A place that an invitation holds.
    struct InvitationSlot {
        let id: ConnectionID
        let origin: [UInt8]
        let waiting: PendingQuestion
        let isAgreed: Bool
    }

    /// In the order of their connections.
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

// MARK: how far things have come

extension Invitee {
    /// What a connection has come to; nil once it is over.
    package func phase(of id: ConnectionID) -> Phase? { connections[id]?.phase }
}
