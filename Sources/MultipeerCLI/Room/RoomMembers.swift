package import MultipeerEssentials

/// All peers that a room knows, with the labels under which they are shown. Peers that left are kept for a while, to show
/// why.
package struct RoomMembers: Sendable {
    private let own: PeerID
    private var labels = PeerLabels()
    private var members: [PeerID: RoomMember] = [:]
    /// The number of departures so far.
    private var departures = 0

    private static let mostDeparted = 8

    package init(own: PeerID) {
        self.own = own
        _ = labels.add(own)
    }

    /// The number of peers that are kept.
    package var count: Int { members.count }

    subscript(peer: PeerID) -> RoomMember? { members[peer] }

    /// Changes a member in place, without copying its queue; returns nil when the peer is unknown.
    @discardableResult
    mutating func update<Value>(_ peer: PeerID, _ body: (inout RoomMember) -> Value) -> Value? {
        guard let index = members.index(forKey: peer) else { return nil }
        return body(&members.values[index])
    }

    func name(of peer: PeerID) -> String { labels[peer] }

    /// The label of a peer whose line is shown, with a mark if it is verified. A name cannot imitate it: labels contain no bracket.
    func speaker(_ peer: PeerID) -> String {
        members[peer]?.isVerified == true ? "\(name(of: peer)) [verified]" : name(of: peer)
    }

    func isLinked(_ peer: PeerID) -> Bool { members[peer]?.isLinked == true }

    /// All linked peers, always in the same order.
    var linked: [PeerID] { members.filter { $0.value.isLinked }.keys.sorted { $0.uid < $1.uid } }

    /// All peers, in the order of their labels.
    var sorted: [PeerID] { members.keys.sorted { (labels[$0], $0.uid) < (labels[$1], $1.uid) } }

    /// Whether all lines have been handed to the links.
    var areIdle: Bool { members.values.allSatisfy { !$0.isLinked || $0.lineQueue.isIdle } }

    /// Whether the linked peers have confirmed all lines.
    var areConfirmed: Bool { members.values.allSatisfy { !$0.isLinked || $0.unconfirmed.count == 0 } }

    /// Returns the peer, other than this one, whose label the text begins with, and the rest.
    func find(at text: String) -> (peer: PeerID, rest: String)? {
        guard let found = labels.find(at: text), found.peer != own else { return nil }
        return found
    }

    /// Returns the linked peer whose label the text ends with, and the text before it.
    func find(atEndOf text: String) -> (rest: String, peer: PeerID)? {
        guard let found = labels.find(atEndOf: text), isLinked(found.peer) else { return nil }
        return found
    }

    /// Adds a peer. Returns the other peers whose labels have changed.
    package mutating func meet(_ peer: PeerID) -> [PeerID] {
        if members[peer] == nil { members[peer] = RoomMember() }
        return labels.add(peer).filter { $0 != own }
    }

    /// Marks the peer as gone; returns whether it was linked.
    package mutating func depart(_ peer: PeerID, _ reason: DisconnectReason) -> Bool {
        let wasLinked = isLinked(peer)
        departures += 1
        members[peer]?.end(reason, age: departures)
        return wasLinked
    }

    /// Forgets the peer that left longest ago, when too many have left.
    package mutating func forgetOldest() {
        let departed = members.filter {
            if case .gone = $0.value.state { $0.value.seekers == 0 } else { false }
        }
        guard departed.count > RoomMembers.mostDeparted,
            let one = departed.min(by: { $0.value.age < $1.value.age })?.key
        else { return }
        remove(one)
    }

    /// Forgets a peer that the session never reported: unauthenticated peers can have any number of names.
    package mutating func dismiss(_ peer: PeerID) {
        guard let member = members[peer], case .connecting = member.state, member.seekers == 0 else { return }
        remove(peer)
    }

    private mutating func remove(_ peer: PeerID) {
        members[peer] = nil
        labels.remove(peer)
    }
}

/// The lines that wait for a member. They belong to one link, which may have ended.
extension RoomMembers {
    /// Returns the next line; nil when there is none, or the link is no longer the current one.
    mutating func nextLine(for peer: PeerID, over link: Int) -> [UInt8]? {
        guard members[peer]?.link == link else { return nil }
        return members[peer]?.lineQueue.next()
    }

    /// Returns how many lines were dropped for a peer that has caught up.
    mutating func recovery(of peer: PeerID, over link: Int) -> Int? {
        guard members[peer]?.link == link else { return nil }
        return members[peer]?.lineQueue.recovery()
    }
}
