import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// The connections of a session that are no links yet: the handshake of each, and whose it is.
struct HandshakeTable: Sendable {
    struct Entry: Sendable {
        var handshake: Handshake
        let isDialled: Bool
        var uid: UID? { handshake.expectedPeer?.endpoint.uid }

        /// Whether it has brought the CONFIRM of an awaited peer.
        var isConfirmed: Bool {
            switch handshake.phase {
            case .deciding(confirmed: true), .candidate: true
            default: false
            }
        }
    }

    private var entries: [ConnectionID: Entry] = [:]
    /// The last connection there was, so that no number comes twice.
    private(set) var last: UInt32

    init(after last: UInt32) { self.last = last }

    subscript(id: ConnectionID) -> Entry? {
        get { entries[id] }
        _modify { yield &entries[id] }
    }

    /// In the order in which they came.
    var ids: [ConnectionID] { entries.keys.sorted() }

    /// Those of one peer, in the order in which they came.
    func ids(of uid: UID) -> [ConnectionID] { entries.filter { $0.value.uid == uid }.keys.sorted() }

    var deadline: Moment? { entries.values.lazy.map(\.handshake.deadline).min() }

    mutating func add(_ handshake: Handshake, isDialled: Bool) -> ConnectionID {
        last += 1
        let id = ConnectionID(rawValue: last)
        entries[id] = Entry(handshake: handshake, isDialled: isDialled)
        return id
    }

    /// It is a link from now on, or over.
    mutating func remove(_ id: ConnectionID) -> Entry? { entries.removeValue(forKey: id) }

    /// What the peer has to say next has its time from now on. [link.timeouts]
    mutating func expectSelection(_ id: ConnectionID, at now: Moment) {
        entries[id]?.handshake.expectSelection(until: now + HandshakeTiming.selection)
    }
}

// MARK: what one peer may have

extension HandshakeTable {
    /// Accepted connections of one peer that have brought a valid CONFIRM and are no link.
    static let confirmedPerPeer = 4

    /// Returns the connection that has to go for `newest`, which has just brought its CONFIRM: the oldest other one of its
    /// peer. One on which we have sent SELECT stays, because the peer may have its link already. [limit.confirmed]
    /// [select.promise]
    func surplus(
        for newest: ConnectionID, of uid: UID, keeping nominated: ConnectionID?
    ) -> ConnectionID? {
        guard isAcceptedAndConfirmed(newest) else { return nil }
        let confirmed = ids(of: uid).filter { isAcceptedAndConfirmed($0) }
        guard confirmed.count > HandshakeTable.confirmedPerPeer else { return nil }
        return confirmed.first { $0 != nominated && $0 != newest }
    }

    private func isAcceptedAndConfirmed(_ id: ConnectionID) -> Bool {
        entries[id].map { !$0.isDialled && $0.isConfirmed } ?? false
    }
}
