import FuzzBodies
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh

/// One membership with its clock. Peers are numbers; a link to a peer has the peer's number by default.
struct Member {
    let endpoint: Endpoint
    var membership: Membership
    var now = Moment(nanoseconds: 1_000_000_000)

    /// `isKeyed`: this member, and all others, have a key.
    init(
        _ number: Int, cap: Int = 8, seed: UInt64 = 1, isPublished: Bool = true, isKeyed: Bool = false
    ) throws {
        endpoint = peer(number)
        membership = Membership(
            endpoint, peers: cap, signer: isKeyed ? MeshFixture.signer(of: endpoint) : nil,
            verifier: MeshFixture.verifier, seed: seed)
        let certificate = isKeyed ? MeshFixture.certificate(of: endpoint) : nil
        if isPublished {
            membership.publish(try MeshFixture.data(of: endpoint, certificate: certificate), at: now)
        }
    }

    mutating func link(_ remote: Endpoint, as number: Int? = nil, isMesh: Bool = true) {
        let key = membership.isKeyed ? MeshFixture.fingerprint(of: remote) : nil
        membership.linked(
            connection(number ?? remote.uid.number), to: remote, isMesh: isMesh, key: key, at: now)
    }

    mutating func unlink(_ number: Int, hasDeparted: Bool = false, isLost: Bool = false) {
        membership.linkEnded(connection(number), hasDeparted: hasDeparted, isLost: isLost, at: now)
    }

    mutating func hear(_ entry: Members, on number: Int) throws(Violation) {
        try membership.receive(entry, on: connection(number), at: now)
    }

    /// Links to these peers, which are linked with each other and send that in their entries.
    mutating func join(_ numbers: [Int]) throws {
        for number in numbers {
            link(peer(number))
            let others = numbers.filter { $0 != number }.map { peer($0) } + [endpoint]
            try hear(try entry(of: peer(number), 1, others), on: number)
        }
    }

    mutating func met(_ remote: Endpoint) { membership.met(remote, at: now) }

    mutating func failed(
        _ number: Int, _ end: Membership.AttemptEnd = .failed, isHopeless: Bool = false
    ) {
        membership.attemptEnded(peer(number).uid, end, isHopeless: isHopeless, at: now)
    }

    mutating func take() -> [Membership.Action] { membership.takeActions() }

    /// Lets time pass, waking up at every deadline, and returns what was done and when.
    mutating func wait(_ duration: Duration) -> [(after: Duration, action: Membership.Action)] {
        let (start, end) = (now, now + duration)
        var done = take().map { (Duration.zero, $0) }
        while let deadline = membership.deadline, deadline <= end {
            now = max(now, deadline)
            membership.advance(to: now)
            done += take().map { (now - start, $0) }
        }
        now = end
        membership.advance(to: now)
        return done + take().map { (duration, $0) }
    }

    var own: Members? { membership.entries.first { $0.origin == endpoint } }
    func held(_ endpoint: Endpoint) -> Members? { membership.entries.first { $0.origin == endpoint } }
    var component: [Endpoint] { membership.component }
}

extension UID {
    /// Of the peers in these tests.
    var number: Int { Int(bytes[14]) << 8 | Int(bytes[15]) }
}

func peer(_ number: Int, _ instance: Int = 0) -> Endpoint { MeshFixture.endpoint(number, instance) }

func connection(_ number: Int) -> ConnectionID { ConnectionID(rawValue: UInt32(number)) }

func entry(
    of origin: Endpoint, _ sequence: UInt32, _ members: [Endpoint], variant: Int = 0
) throws -> Members {
    Members(
        origin: origin, sequence: sequence, members: members.sorted(by: <),
        blob: try MeshFixture.data(of: origin, variant: variant).bytes)
}

/// Returns an entry with a key of its endpoint, which has signed it.
func signedEntry(
    of origin: Endpoint, _ sequence: UInt32, _ members: [Endpoint], key: Int = 0
) throws -> Members {
    let certificate = MeshFixture.certificate(of: origin, key: key)
    let unsigned = Members(
        origin: origin, sequence: sequence, members: members.sorted(by: <),
        blob: try MeshFixture.data(of: origin, certificate: certificate).bytes)
    return MeshFixture.signed(unsigned, by: origin, key: key)
}

extension [Membership.Action] {
    /// The endpoints to which it should be connecting.
    var connects: [Endpoint] {
        compactMap { if case .connect(let data, _) = $0 { data.endpoint } else { nil } }
    }

    var first: [Bool] {
        compactMap { if case .connect(_, let isFirst) = $0 { isFirst } else { nil } }
    }

    /// Returns the endpoints whose entries are sent on this link, in order.
    func told(on number: Int) -> [Endpoint] {
        compactMap { if case .tell(connection(number), let entry) = $0 { entry.origin } else { nil } }
    }
}
