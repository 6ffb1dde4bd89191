package import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

// MARK: what one peer may have

extension Introductions {
    /// Accepted connections of one peer that have brought a valid CONFIRM and are no link.
    static let confirmedPerPeer = 4

    /// Makes room for `newest`, which has just brought its CONFIRM: the oldest other connection of its peer goes. One on
    /// which we have sent SELECT stays, because the peer may have its link already. [limit.confirmed] [select.promise]
    mutating func limitConfirmed(_ newest: ConnectionID, at now: Moment) {
        guard let uid = connections[newest]?.uid, isAcceptedAndConfirmed(newest) else { return }
        let confirmed = connections(of: uid).filter { isAcceptedAndConfirmed($0) }
        guard confirmed.count > Introductions.confirmedPerPeer else { return }
        let nominated = introductions[uid]?.selection.nominated
        guard let oldest = confirmed.first(where: { $0 != nominated && $0 != newest }) else { return }
        refused(oldest, .duplicate, at: now)
    }

    /// Whether the application has so much of a peer to take that no candidate of it may become a link. [limit.relink]
    package mutating func setUnread(_ isTooMuch: Bool, of uid: UID) {
        if isTooMuch { unread.insert(uid) } else { unread.remove(uid) }
    }

    private func isAcceptedAndConfirmed(_ id: ConnectionID) -> Bool {
        connections[id]?.isDialled == false && isConfirmed(id)
    }
}
