package import MultipeerCore
import MultipeerFraming

// MARK: who may wait

extension Invitee {
    /// Whether an invitation may wait for its answer.
    enum Place: Equatable {
        case none
        /// On the connection that its inviter's earlier one has now.
        case instead(ConnectionID, Waiting)
        /// Perhaps in the place of another.
        case free(evicting: ConnectionID?)
    }

    func place(for inviter: UID, from origin: [UInt8]) -> Place {
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
    mutating func dropStrangers(like origin: [UInt8]) {
        let strangers = connections.filter { $0.value.isStranger }
        let alike = strangers.filter { $0.value.origin == origin }.keys.sorted()
        if alike.count > InvitationLimits.strangersPerAddress {
            end(alike[0], .busy, .withdrawn)
        } else if strangers.count > InvitationLimits.strangers, let oldest = strangers.keys.min() {
            end(oldest, .busy, .withdrawn)
        }
    }

    /// A place that an invitation holds.
    struct Held {
        let id: ConnectionID
        let origin: [UInt8]
        let waiting: Waiting
        let isAgreed: Bool
    }

    /// In the order of their connections.
    var held: [Held] {
        connections.sorted { $0.key < $1.key }.compactMap { id, connection in
            switch connection.phase {
            case .securing, .greeting: nil
            case .asking(let waiting):
                Held(id: id, origin: connection.origin, waiting: waiting, isAgreed: false)
            case .agreed(let waiting, _):
                Held(id: id, origin: connection.origin, waiting: waiting, isAgreed: true)
            }
        }
    }
}

extension Invitee.Connection {
    var isStranger: Bool { phase == .securing || phase == .greeting }
}

// MARK: how far things have come

extension Invitee {
    /// What a connection has come to; nil once it is over.
    package func phase(of id: ConnectionID) -> Phase? { connections[id]?.phase }
}
