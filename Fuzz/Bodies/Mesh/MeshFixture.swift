package import MultipeerCore
package import MultipeerHandshake
import MultipeerSecurity

/// Endpoints that a mesh can be made of, and their connection data.
package enum MeshFixture {
    /// Returns endpoint `index` of peer `number`; both in the order of the endpoints.
    package static func endpoint(_ number: Int, _ index: Int = 0) -> Endpoint {
        Endpoint(uid: UID(high: 0, low: UInt64(number)), instance: UInt64(index))
    }

    /// Returns data of this endpoint. Each variant has another address. `certificate`: what the data pin; nil if its preference
    /// is none. `hasIdentity`: which a peer with a keyed uid must have.
    package static func data(
        of endpoint: Endpoint, variant: Int = 0, flags: ConnectionData.Flags = .mesh,
        for recipient: UID? = nil, certificate: [UInt8]? = nil, hasIdentity: Bool = false
    ) throws -> ConnectionData {
        let local = LocalPeer(
            peer: try PeerID(validating: endpoint.uid, displayName: "peer \(endpoint.uid.low)"),
            instance: endpoint.instance, preference: certificate == nil ? .none : .optional,
            hasIdentity: hasIdentity,
            fingerprint: certificate.flatMap { Fingerprint(SHA256.hash($0)) })
        var linkEstablishment = LinkEstablishment(local, seed: 1)
        let address = Candidate(address: [192, 0, 2, 1], port: UInt16(2_000 + variant))
        return try linkEstablishment.connectionData(
            for: recipient, candidates: [address].compactMap { $0 }, flags: flags,
            token: [UInt8](repeating: 7, count: 32), at: Moment(nanoseconds: 0))
    }

    /// Peers 1 to 20, two endpoints of each.
    static let endpoints = (1...20).flatMap { number in [endpoint(number), endpoint(number, 1)] }

    /// Two variants for each of `endpoints`, and as a third what no entry may carry.
    static let blobs: [[[UInt8]]] = endpoints.map { blobs(of: $0, nil) }
    /// The same with the key of each endpoint, and with another one.
    static let keyedBlobs: [[[[UInt8]]]] = [0, 1].map { key in
        endpoints.map { blobs(of: $0, certificate(of: $0, key: key)) }
    }

    private static func blobs(of endpoint: Endpoint, _ certificate: [UInt8]?) -> [[UInt8]] {
        let good = (0...1).compactMap { try? data(of: endpoint, variant: $0, certificate: certificate) }
        let bad = try? data(of: endpoint, flags: [], certificate: certificate)
        return (good + [bad].compactMap { $0 }).map(\.bytes)
    }
}
