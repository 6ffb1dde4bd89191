import Multipeer

/// Everybody of whom a room knows, under the names by which they are shown. Those who went stay for a while, so that it can
/// be said why.
struct RoomMembers: Sendable {
    private let own: PeerID
    private var labels = PeerLabels()
    private var members: [PeerID: RoomMember] = [:]
    /// How many departures there have been.
    private var departures = 0

    private static let mostDeparted = 8

    init(own: PeerID) {
        self.own = own
        _ = labels.add(own)
    }

    subscript(peer: PeerID) -> RoomMember? { members[peer] }

    /// Changes a member in its place, with all the lines that wait for it; nil when it is not known.
    @discardableResult
    mutating func update<Value>(_ peer: PeerID, _ body: (inout RoomMember) -> Value) -> Value? {
        guard let index = members.index(forKey: peer) else { return nil }
        return body(&members.values[index])
    }

    func name(of peer: PeerID) -> String { labels[peer] }

    func isLinked(_ peer: PeerID) -> Bool { members[peer]?.isLinked == true }

    /// Everybody who is linked, always in the same order.
    var linked: [PeerID] { members.filter { $0.value.isLinked }.keys.sorted { $0.uid < $1.uid } }

    /// Everybody, in the order of their names.
    var sorted: [PeerID] { members.keys.sorted { (labels[$0], $0.uid) < (labels[$1], $1.uid) } }

    /// Whether what was said has been handed to the links.
    var areIdle: Bool { members.values.allSatisfy { !$0.isLinked || $0.lineQueue.isIdle } }

    /// The other whose name the text begins with, and what stands behind it.
    func find(at text: String) -> (peer: PeerID, rest: String)? {
        guard let found = labels.find(at: text), found.peer != own else { return nil }
        return found
    }

    /// The one who is linked and whose name the text ends with, and what stands before it.
    func find(atEndOf text: String) -> (rest: String, peer: PeerID)? {
        guard let found = labels.find(atEndOf: text), isLinked(found.peer) else { return nil }
        return found
    }

    /// A peer that is heard of. Returns the others who are shown under another name from now on.
    mutating func meet(_ peer: PeerID) -> [PeerID] {
        if members[peer] == nil { members[peer] = RoomMember() }
        return labels.add(peer).filter { $0 != own }
    }

    /// Returns whether the peer was linked.
    mutating func depart(_ peer: PeerID, _ reason: DisconnectReason) -> Bool {
        let wasLinked = isLinked(peer)
        departures += 1
        members[peer]?.end(reason, age: departures)
        return wasLinked
    }

    /// Forgets one of those who went, the one longest ago, when there are too many.
    mutating func forgetOldest() {
        let departed = members.filter {
            if case .gone = $0.value.state { $0.value.seekers == 0 } else { false }
        }
        guard departed.count > RoomMembers.mostDeparted,
            let one = departed.min(by: { $0.value.age < $1.value.age })?.key
        else { return }
        remove(one)
    }

    /// Forgets somebody of whom the session has never told anything: strangers can have any number of names.
    mutating func dismiss(_ peer: PeerID) {
        guard let member = members[peer], case .connecting = member.state, member.seekers == 0 else { return }
        remove(peer)
    }

    private mutating func remove(_ peer: PeerID) {
        members[peer] = nil
        labels.remove(peer)
    }
}

/// What waits for a member. It belongs to one link, which may have ended by now.
extension RoomMembers {
    /// The next line; nil when there is none, or the link is another.
    mutating func nextLine(for peer: PeerID, over link: Int) -> [UInt8]? {
        guard members[peer]?.link == link else { return nil }
        return members[peer]?.lineQueue.next()
    }

    /// How many lines were dropped for a peer that has caught up.
    mutating func recovery(of peer: PeerID, over link: Int) -> Int? {
        guard members[peer]?.link == link else { return nil }
        return members[peer]?.lineQueue.recovery()
    }
}
