package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink

/// What the mesh says of one endpoint: its entry, and what was read out of it.
struct DatabaseEntry: Sendable {
    var entry: Members
    var data: ConnectionData
    /// The link that it came on.
    var link: ConnectionID
    /// Counts the endpoints as they became known: the later of two instances of a peer is probably the living one.
    let arrival: UInt64
    /// Since when nobody reachable stands for it; nil while it is in the component.
    var unreachableSince: Moment?
}

/// The newest that others say of an endpoint that is linked. It is not believed.
struct Hearsay: Sendable {
    let entry: Members
    let data: ConnectionData
    /// The link that it came on.
    let link: ConnectionID
}

extension Membership {
    /// Links that one entry may list.
    static let longestList = 31

    /// The entry's data, after every check that needs no knowledge of the mesh. [mesh.entry]
    func check(_ entry: Members) throws(Violation) -> ConnectionData {
        let members = entry.members
        let isSorted = zip(members, members.dropFirst()).allSatisfy { $0 < $1 }
        guard members.count <= Membership.longestList, isSorted, !members.contains(entry.origin) else {
            throw .badEntry(.members)
        }
        // Most entries differ from the one before in their list only.
        if let held = graph.database[entry.origin], held.entry.blob == entry.blob { return held.data }
        let data: ConnectionData
        do throws(InvalidConnectionData) {
            data = try ConnectionData(entry.blob)
        } catch {
            throw .badEntry(.data("\(error)"))
        }
        guard data.isOfMesh(of: entry.origin) else { throw .badEntry(.foreignData) }
        return data
    }
}

extension ConnectionData {
    /// Whether anybody in the mesh may dial `endpoint` with these data.
    func isOfMesh(of endpoint: Endpoint) -> Bool {
        self.endpoint == endpoint && flags.contains(.mesh) && recipient == nil
    }
}

extension Endpoint {
    /// The order of entries and lists: by uid, then by instance. [mesh.entry]
    package static func < (one: Endpoint, other: Endpoint) -> Bool {
        (one.uid.high, one.uid.low, one.instance) < (other.uid.high, other.uid.low, other.instance)
    }
}
