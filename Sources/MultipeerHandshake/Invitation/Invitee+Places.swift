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

    /// Returns the place for a new question, drawing at random whose place it takes where the choice is free. [invite.pending]
    mutating func place(for inviter: UID, from origin: [UInt8], at now: Moment) -> InvitationAdmission {
        let held = held
        if let known = held.first(where: { $0.waiting.inviter == inviter && $0.origin == origin }) {
            return known.isAgreed ? .none : .instead(known.id, known.waiting)
        }
        let ofPeer = held.filter { $0.waiting.inviter == inviter }
        let group = AddressGroup(origin)
        let ofAddress = held.filter { $0.group == group }
        let isCrowdedPeer = ofPeer.count >= InvitationLimits.pendingPerPeer
        let isCrowdedAddress = ofAddress.count >= InvitationLimits.pendingPerAddress
        guard isCrowdedPeer || isCrowdedAddress || held.count >= InvitationLimits.pending else {
            return .free(evicting: nil)
        }
        var rivals = held
        if isCrowdedPeer { rivals = ofPeer }
        if isCrowdedAddress { rivals = rivals.filter { $0.group == group } }
        if !isCrowdedPeer, !isCrowdedAddress {
            let byAddress = Dictionary(grouping: held, by: \.group)
            let most = byAddress.values.map(\.count).max() ?? 0
            rivals = held.filter { byAddress[$0.group]?.count == most && !$0.isAgreed }
            if most > ofAddress.count + 1,
                let newest = rivals.max(by: { $0.waiting.question < $1.waiting.question })
            {
                return .free(evicting: newest.id)
            }
            if most <= ofAddress.count { return .none }
        }
        let old = rivals.filter { !$0.isAgreed && now - $0.waiting.since >= InvitationTiming.undisturbed }
        return old.randomElement(using: &random).map { .free(evicting: $0.id) } ?? .none
    }

    /// One place that an invitation occupies.
    struct InvitationSlot {
        let id: ConnectionID
        let origin: [UInt8]
        let waiting: PendingQuestion
        let isAgreed: Bool
        var group: AddressGroup { AddressGroup(origin) }
    }

    /// The places in the order of their connections.
    var held: [InvitationSlot] {
        connections.sorted { $0.key < $1.key }.compactMap { id, connection in
            switch connection.phase {
            case .securing, .greeting, .confirming, .proven: nil
            case .asking(let waiting):
                InvitationSlot(id: id, origin: connection.origin, waiting: waiting, isAgreed: false)
            case .agreed(let waiting, _):
                InvitationSlot(id: id, origin: connection.origin, waiting: waiting, isAgreed: true)
            }
        }
    }
}

extension Invitee.Connection {
    /// Whether the connection has no INVITE yet.
    var isUnauthenticated: Bool {
        switch phase {
        case .securing, .greeting, .confirming, .proven: true
        case .asking, .agreed: false
        }
    }

    var takesInvite: Bool { phase == .greeting || phase == .proven }
}

// MARK: phases

extension Invitee {
    /// Returns the phase of a connection; nil once it has ended.
    package func phase(of id: ConnectionID) -> Phase? { connections[id]?.phase }
}
