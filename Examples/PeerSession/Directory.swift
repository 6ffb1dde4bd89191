import Foundation
import MultipeerConnectivity

/// Who is who: the one place where a person's id and the framework's peer are known to belong together.
///
/// A peer that comes back is the same person: `MCPeerID` compares by identity, not by name.
struct Directory {
    private var people: [UUID: Person] = [:]
    private var peers: [UUID: MCPeerID] = [:]
    private var ids: [MCPeerID: UUID] = [:]

    /// The person behind a peer, a new one when it was never seen.
    mutating func person(_ peer: MCPeerID) -> Person {
        if let id = ids[peer], let known = people[id] { return known }
        let person = Person(id: UUID(), name: peer.displayName)
        (people[person.id], peers[person.id], ids[peer]) = (person, peer, person.id)
        return person
    }

    /// Notes a state; answers the person as it is now.
    mutating func note(_ state: MCSessionState, of peer: MCPeerID) -> Person {
        var person = person(peer)
        person.state = state
        people[person.id] = person
        return person
    }

    func peer(_ id: UUID) -> MCPeerID? { peers[id] }

    /// Whether anybody is linked, or about to be.
    var isEmptyHanded: Bool { people.values.allSatisfy { $0.state == .notConnected } }
}
