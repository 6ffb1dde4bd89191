package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh

/// What the application has not taken of each peer and no credit limits. Spec 15.2. [limit.relink]
///
/// The messages of a link have that link's credit, and each link begins with a full window. Therefore unread messages of a
/// peer's former links are still counted under its uid, together with events of the peer that have no credit at all.
struct UnreadEvents {
    /// The maximum number of unread changes of one peer's state and requests for a code.
    static let eventsPerPeer = 64
    /// The number of unread events of all peers beyond which no attempt to another member begins: a member can invent peers
    /// without end. [limit.events]
    static let eventsInAll = 1_024

    private struct Account {
        /// The cost of unread messages of former links.
        var cost = 0
        var events = 0
        var isEmpty: Bool { cost == 0 && events == 0 }
    }

    private var accounts: [UID: Account] = [:]
    private var events = 0
    /// Ended links with messages that were not taken.
    private var former: [ConnectionID: (uid: UID, cost: Int)] = [:]

    /// The peers with unread events.
    var peers: [UID] { Array(accounts.keys) }

    /// Returns whether so much of a peer is unread that it may not be linked again. `credit`: the window of one link.
    func isTooMuch(of uid: UID, credit: Int) -> Bool {
        guard let account = accounts[uid] else { return false }
        return account.events >= UnreadEvents.eventsPerPeer
            || account.cost + account.events * Limits.messageOverhead > credit
    }

    /// Counts an event of a peer that is reported to the application.
    mutating func tell(of uid: UID) {
        accounts[uid, default: Account()].events += 1
        events += 1
    }

    /// Whether too many events are unread to report further members.
    var areTooMany: Bool { events >= UnreadEvents.eventsInAll }

    /// Counts events that the application has taken.
    mutating func takeEvents(_ count: Int, of uid: UID) {
        let taken = min(count, accounts[uid]?.events ?? 0)
        events -= taken
        change(uid) { $0.events -= taken }
    }

    /// Notes the end of a link with unread messages of this cost.
    mutating func linkEnded(_ id: ConnectionID, of uid: UID, untaken cost: Int) {
        guard cost > 0 else { return }
        former[id] = (uid, cost)
        accounts[uid, default: Account()].cost += cost
    }

    /// Counts messages of an ended link that were taken. Returns their peer.
    mutating func take(_ cost: Int, of id: ConnectionID) -> UID? {
        guard let known = former[id] else { return nil }
        let taken = min(cost, known.cost)
        former[id] = taken < known.cost ? (known.uid, known.cost - taken) : nil
        change(known.uid) { $0.cost -= taken }
        return known.uid
    }

    private mutating func change(_ uid: UID, _ body: (inout Account) -> Void) {
        guard var account = accounts[uid] else { return }
        body(&account)
        accounts[uid] = account.isEmpty ? nil : account
    }
}

extension SessionEngine {
    /// Counts events of this peer that the application has taken: changes of its state, and its requests for a code.
    package mutating func eventsTaken(_ count: Int, of uid: UID) {
        unread.takeEvents(count, of: uid)
        judgeUnread(of: uid)
    }

    /// Counts an event of a peer that the owner reports by itself.
    package mutating func eventReported(of uid: UID) {
        unread.tell(of: uid)
        judgeUnread(of: uid)
    }

    /// Reports an event of a peer that no credit covers.
    mutating func tell(_ event: SessionOutput, of uid: UID) {
        outputs.append(event)
        eventReported(of: uid)
    }

    /// Updates whether a peer may be linked again: not while too much of it is unread. [limit.relink]
    mutating func judgeUnread(of uid: UID) {
        let credit = Int(mesh.local.limits.messageCredit)
        mesh.setUnread(unread.isTooMuch(of: uid, credit: credit), of: uid)
        mesh.holdsIntroductions = unread.areTooMany  // [limit.events]
    }
}
