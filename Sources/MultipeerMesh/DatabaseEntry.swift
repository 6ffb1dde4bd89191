package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink

/// The mesh's entry for one endpoint, and its decoded contents.
struct DatabaseEntry: Sendable {
    var entry: Members
    var data: ConnectionData
    /// The link on which it arrived.
    var link: ConnectionID
    /// The order in which the endpoint became known: the later of two instances of a peer is probably the live
    /// one.
    let arrival: UInt64
}

/// The newest entry that others sent of a linked endpoint. It is not used while the link is up.
struct Hearsay: Sendable {
    let entry: Members
    let data: ConnectionData
    /// The link on which it arrived.
    let link: ConnectionID
}

extension Membership {
    /// The maximum number of links that one entry may list.
    static let longestList = 31

    /// Returns the entry's data, after every check that needs no knowledge of the mesh. [mesh.entry]
    func check(_ entry: Members) throws(Violation) -> ConnectionData {
        let members = entry.members
        let isSorted = zip(members, members.dropFirst()).allSatisfy { $0 < $1 }
        guard members.count <= Membership.longestList, isSorted, !members.contains(entry.origin) else {
            throw .badEntry(.members)
        }
        guard hasSignature(entry) else { throw .badEntry(.certificate) }
        // Most entries differ from the previous one only in their list.
        if let held = graph.database[entry.origin], held.entry.blob == entry.blob,
            held.entry.certificate == entry.certificate
        {
            return held.data
        }
        let data: ConnectionData
        do throws(InvalidConnectionData) {
            data = try ConnectionData(parsing: entry.blob)
        } catch {
            throw .badEntry(.data("\(error)"))
        }
        guard data.isOfMesh(of: entry.origin) else { throw .badEntry(.foreignData) }
        guard data.fingerprint == Membership.key(of: entry.certificate) else { throw .badEntry(.certificate) }
        return data
    }
}

extension ConnectionData {
    /// Returns whether every member of the mesh may dial `endpoint` with these data.
    func isOfMesh(of endpoint: Endpoint) -> Bool {
        self.endpoint == endpoint && flags.contains(.mesh) && recipient == nil
    }
}

extension Endpoint {
    /// Orders entries and lists by uid, then by instance. [mesh.entry]
    package static func < (one: Endpoint, other: Endpoint) -> Bool {
        (one.uid.high, one.uid.low, one.instance) < (other.uid.high, other.uid.low, other.instance)
    }
}
