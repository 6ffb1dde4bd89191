import MultipeerCore
import MultipeerFraming
import MultipeerSecurity

/// The connections of a session that are not links yet: the handshake of each, and its peer.
struct HandshakeTable: Sendable {
    struct Entry: Sendable {
        var handshake: Handshake
        /// The address that was dialled; nil for an accepted connection.
        let address: Candidate?
        /// Whether it was dialled because of an introduction alone. [mesh.introduced]
        let isIntroduced: Bool
        var isDialled: Bool { address != nil }
        var uid: UID? { handshake.expectedPeer?.endpoint.uid }

        /// Whether it has received the CONFIRM of an expected peer.
        var isConfirmed: Bool {
            switch handshake.phase {
            case .deciding(confirmed: true), .candidate: true
            default: false
            }
        }
    }

    private var entries: [ConnectionID: Entry] = [:]
    /// The last connection: numbers are used in turn, and begin again after 2^32 connections.
    var last: UInt32

    init(after last: UInt32) { self.last = last }

    subscript(id: ConnectionID) -> Entry? {
        get { entries[id] }
        _modify { yield &entries[id] }
    }

    /// The connections in the order of their arrival.
    var ids: [ConnectionID] { entries.keys.sorted() }

    /// Returns the connections of one peer, in the order of their arrival.
    func ids(of uid: UID) -> [ConnectionID] { entries.filter { $0.value.uid == uid }.keys.sorted() }

    var deadline: Moment? { entries.values.lazy.map(\.handshake.deadline).min() }

    /// Adds a connection under a number that no other one has, and none of the links.
    mutating func add(
        _ handshake: Handshake, dialled address: Candidate?, isIntroduced: Bool = false,
        besides links: some Sequence<ConnectionID>
    ) -> ConnectionID {
        last &+= 1
        while entries[ConnectionID(rawValue: last)] != nil || links.contains(ConnectionID(rawValue: last)) {
            last &+= 1
        }
        let id = ConnectionID(rawValue: last)
        entries[id] = Entry(handshake: handshake, address: address, isIntroduced: isIntroduced)
        return id
    }

    /// Returns whether this address was dialled because of an introduction alone, and nothing has answered yet. One at a time:
    /// several invented members can have the same address. [mesh.introduced]
    func awaitsAnswer(of address: Candidate) -> Bool {
        entries.values.contains {
            $0.isIntroduced && $0.address == address && $0.handshake.phase == .securing
        }
    }

    /// Removes a connection that became a link or has ended.
    mutating func remove(_ id: ConnectionID) -> Entry? { entries.removeValue(forKey: id) }

    /// Restarts the timeout for the peer's next frame. [link.timeouts]
    mutating func expectSelection(_ id: ConnectionID, at now: Moment) {
        entries[id]?.handshake.expectSelection(at: now)
    }
}

// MARK: limits for one peer

extension HandshakeTable {
    /// The maximum number of accepted connections of one peer that have received a valid CONFIRM and are not a link.
    static let confirmedPerPeer = 4

    /// Returns the connection to close in favour of `newest`, which has just received its CONFIRM: the oldest other one of
    /// its peer. One on which we have sent SELECT is kept, because the peer may have its link already. [limit.confirmed]
    /// [select.pending]
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
