package import MultipeerFraming
package import MultipeerIntroduction

/// Who is in the mesh, as one member knows it. Spec 11.
package struct Membership: Sendable {
    package enum Action: Equatable, Sendable {
        /// Write this entry on that mesh link.
        case tell(ConnectionID, Members)
        /// Make a link to whoever these data are of; `isFirst`: the application hears that it is connecting.
        case seek(ConnectionData, isFirst: Bool)
        /// Stop seeking: it is no longer in the mesh.
        case withdraw(UID)
        /// The mesh has too many members, and this one goes: FULL on all links, then a new instance.
        case leave
    }

    let local: Endpoint
    let cap: Int
    var jitter: Jitter
    var links: [ConnectionID: (endpoint: Endpoint, isMesh: Bool)] = [:]

    /// `peers`: members of the whole mesh at the most. `seed` feeds pauses only.
    package init(_ local: Endpoint, peers: Int = Limits.peers, seed: UInt64) {
        self.local = local
        cap = peers
        jitter = Jitter(seed: seed)
    }

    /// The data with which others dial us: open, with the MESH flag.
    package mutating func publish(_ data: ConnectionData, at now: Moment) {}

    package mutating func linked(_ id: ConnectionID, to endpoint: Endpoint, isMesh: Bool, at now: Moment) {
        links[id] = (endpoint, isMesh)
    }

    /// `hasDeparted`: the other end said that it leaves, GOODBYE or FULL.
    package mutating func linkEnded(_ id: ConnectionID, hasDeparted: Bool, at now: Moment) {
        links[id] = nil
    }

    /// A MEMBERS came on this link.
    package mutating func receive(
        _ entry: Members, on id: ConnectionID, at now: Moment
    ) throws(Violation) {}

    /// This endpoint has shown that it exists: its HELLO was good, or it said FULL where only it could.
    package mutating func met(_ endpoint: Endpoint, at now: Moment) {}

    /// What `seek` asked for came to nothing; `isHopeless`: with the same data it always will.
    package mutating func attemptEnded(_ uid: UID, isHopeless: Bool, at now: Moment) {}

    package mutating func advance(to now: Moment) {}

    package mutating func takeActions() -> [Action] { [] }

    package var deadline: Moment? { nil }

    /// The mesh as far as it is known, by uid, without the local endpoint.
    package var component: [Endpoint] {
        links.values.filter(\.isMesh).map(\.endpoint).sorted { $0.uid < $1.uid }
    }

    /// Whether the two meshes that a link to `remote` would join have room for each other.
    package func admits(_ remote: Endpoint, listing members: [Endpoint]) -> Bool { true }

    /// Every entry held, the own one included, by origin.
    package var entries: [Members] { [] }
}
