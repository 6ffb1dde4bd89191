package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh

/// What the application has not taken of each peer and no credit bounds. Spec 15.2. [limit.relink]
///
/// The messages of a link have that link's credit, and each link begins with a full window. So what former links of a peer
/// brought counts on under its uid, and with it what is told of the peer and has no credit at all.
struct UnreadEvents {
    /// Changes of one peer's state, and its requests for a code, that may wait.
    static let eventsPerPeer = 64

    private struct Account {
        /// Of messages that former links brought.
        var cost = 0
        var events = 0
        var isEmpty: Bool { cost == 0 && events == 0 }
    }

    private var accounts: [UID: Account] = [:]
    /// Links that are over and have brought something that was not taken.
    private var former: [ConnectionID: (uid: UID, cost: Int)] = [:]

    /// Peers of which anything waits.
    var peers: [UID] { Array(accounts.keys) }

    /// Whether so much waits of a peer that it may not be linked again. `credit`: the window of one link.
    func isTooMuch(of uid: UID, credit: Int) -> Bool {
        guard let account = accounts[uid] else { return false }
        return account.events >= UnreadEvents.eventsPerPeer
            || account.cost + account.events * Limits.messageOverhead > credit
    }

    /// The application is told something of a peer.
    mutating func tell(of uid: UID) { accounts[uid, default: Account()].events += 1 }

    /// It has taken some of that.
    mutating func takeEvents(_ count: Int, of uid: UID) {
        change(uid) { $0.events = max(0, $0.events - count) }
    }

    /// A link is over, and messages of this cost were not taken.
    mutating func linkEnded(_ id: ConnectionID, of uid: UID, untaken cost: Int) {
        guard cost > 0 else { return }
        former[id] = (uid, cost)
        accounts[uid, default: Account()].cost += cost
    }

    /// Messages of a link that is over were taken. Returns whose they were.
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
    /// The application has taken so many events about this peer: changes of its state, and its requests for a code.
    package mutating func eventsTaken(_ count: Int, of uid: UID) {
        unread.takeEvents(count, of: uid)
        judgeUnread(of: uid)
    }

    /// The application is told of a peer, besides what its link has credit for.
    mutating func tell(_ event: SessionOutput, of uid: UID) {
        outputs.append(event)
        unread.tell(of: uid)
        judgeUnread(of: uid)
    }

    /// A peer of which too much waits is not linked again before the application has taken some. [limit.relink]
    mutating func judgeUnread(of uid: UID) {
        let credit = Int(mesh.local.limits.messageCredit)
        mesh.setUnread(unread.isTooMuch(of: uid, credit: credit), of: uid)
    }
}
