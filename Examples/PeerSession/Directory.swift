import Foundation
import MultipeerConnectivity

/// The map between persons and peers: the one place that knows which person's id belongs to which peer of the
/// framework.
///
/// A peer that comes back is the same person: `MCPeerID` compares by identity, not by name.
struct Directory {
    private var people: [UUID: Person] = [:]
    private var peers: [UUID: MCPeerID] = [:]
    private var ids: [MCPeerID: UUID] = [:]

    /// Returns the person of a peer, a new one when the peer was never seen.
    mutating func person(_ peer: MCPeerID) -> Person {
        if let id = ids[peer], let known = people[id] { return known }
        let person = Person(id: UUID(), name: peer.displayName)
        (people[person.id], peers[person.id], ids[peer]) = (person, peer, person.id)
        return person
    }

    /// Notes a state; returns the updated person.
    mutating func note(_ state: MCSessionState, of peer: MCPeerID) -> Person {
        var person = person(peer)
        person.state = state
        people[person.id] = person
        return person
    }

    func peer(_ id: UUID) -> MCPeerID? { peers[id] }

    /// Whether no person is connected, or about to be.
    var isEmptyHanded: Bool { people.values.allSatisfy { $0.state == .notConnected } }
}
