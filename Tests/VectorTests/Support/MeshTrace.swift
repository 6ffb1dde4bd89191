import Foundation
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import Testing

/// The input of one member of a mesh, step by step, and the results. Peers are named.
struct MeshTrace: VectorBody {
    static let type = "mesh-trace"
    let flags: [String]
    let local: String
    let cap: Int
    let steps: [Step]
    let held: [Held]

    struct Step: Decodable {
        let at: Int
        let `do`: String
        let link: UInt32?
        let to: String?
        let mesh: Bool?
        let departed: Bool?
        /// Whether a candidate that the other end dialled waited for the place of the link that ends.
        let candidate: Bool?
        let entry: Entry?
        /// The payload of MEMBERS, where members have keys.
        let hex: Hex?
        let count: Int?
        let peer: String?
        let hopeless: Bool?
        let list: [String]?
        let data: String?
        let error: String?
        let admitted: Bool?

        let component: [String]
        let told: [Told]?
        let connects: [Connect]?
        let withdrawn: [String]?
        let hidden: [String]?
        let lost: Bool?
        let code: String?
        let dismissed: [UInt32]?
        let leaves: Bool?
    }

    struct Entry: Decodable, Equatable {
        let of: String
        let sequence: UInt32
        let list: [String]

        init(of origin: String, sequence: UInt32, list: [String]) {
            (of, self.sequence, self.list) = (origin, sequence, list)
        }

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            of = try fields.decode(String.self)
            sequence = try fields.decode(UInt32.self)
            list = try fields.decode([String].self)
        }
    }

    struct Told: Decodable, Equatable {
        let link: UInt32
        let entry: Entry

        init(link: UInt32, entry: Entry) { (self.link, self.entry) = (link, entry) }

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            link = try fields.decode(UInt32.self)
            entry = Entry(
                of: try fields.decode(String.self), sequence: try fields.decode(UInt32.self),
                list: try fields.decode([String].self))
        }
    }

    struct Connect: Decodable, Equatable {
        let peer: String
        let isShown: Bool

        init(peer: String, isShown: Bool) { (self.peer, self.isShown) = (peer, isShown) }

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            peer = try fields.decode(String.self)
            isShown = try fields.decode(Bool.self)
        }
    }

    struct Held: Decodable, Equatable {
        let of: String
        let sequence: UInt32

        init(of origin: String, sequence: UInt32) { (of, self.sequence) = (origin, sequence) }

        init(from decoder: any Decoder) throws {
            var fields = try decoder.unkeyedContainer()
            of = try fields.decode(String.self)
            sequence = try fields.decode(UInt32.self)
        }
    }
}

/// The peers of a trace: the endpoint and the mesh data of each name, and the name of each endpoint.
struct MeshTracePeers {
    private let peers: [String: Peer]
    private let names: [Endpoint: String]

    struct Peer {
        let endpoint: Endpoint
        let data: ConnectionData
        /// The data that it issues later.
        let second: ConnectionData?
        /// Signs its entries; nil without a key.
        let signer: Signer?
    }

    init() throws {
        let groups = try VectorFiles.decode(File.self, "vectors/mesh-traces.json").groups
        peers = try groups.compactMap(\.peers).reduce(into: [:]) { all, some in
            for (name, card) in some { all[name] = try card.peer() }
        }
        names = Dictionary(peers.map { ($1.endpoint, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func callAsFunction(_ name: String) throws -> Peer {
        guard let peer = peers[name] else { throw Unknown(name: name) }
        return peer
    }

    func name(_ endpoint: Endpoint) -> String { names[endpoint] ?? "?" }

    /// Returns the peer's name, for any of its instances.
    func name(ofPeer uid: UID) -> String { peers.filter { $1.endpoint.uid == uid }.keys.min() ?? "?" }

    func members(_ entry: MeshTrace.Entry, isSecondData: Bool) throws -> Members {
        let peer = try self(entry.of)
        let data = isSecondData ? try #require(peer.second) : peer.data
        return Members(
            origin: peer.endpoint, sequence: entry.sequence,
            members: try entry.list.map { try self($0).endpoint }, blob: data.bytes)
    }

    func entry(_ members: Members) -> MeshTrace.Entry {
        MeshTrace.Entry(of: name(members.origin), sequence: members.sequence, list: members.members.map(name))
    }

    private struct File: Decodable {
        let groups: [Group]
        struct Group: Decodable { let peers: [String: Card]? }
    }

    private struct Card: Decodable {
        let endpoint: Hex
        let data: Hex
        let second: Hex?
        let certificate: Hex?
        /// PKCS#8.
        let key: Hex?

        func peer() throws -> Peer {
            let data = try ConnectionData(parsing: data.bytes)
            guard data.endpoint.bytes == endpoint.bytes else { throw Unknown(name: "\(endpoint)") }
            return Peer(
                endpoint: data.endpoint, data: data,
                second: try second.map { try ConnectionData(parsing: $0.bytes) }, signer: try signer())
        }

        private func signer() throws -> Signer? {
            guard let certificate, let key else { return nil }
            let text = [("CERTIFICATE", certificate), ("PRIVATE KEY", key)].map { label, der in
                let lines = Data(der.bytes).base64EncodedString(
                    options: [.lineLength64Characters, .endLineWithLineFeed])
                return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----\n"
            }
            let identity = try Identity(parsingPEM: Array(text.joined().utf8))
            return try Signer(identity, certificateLimit: 4_096)
        }
    }

    private struct Unknown: Error { let name: String }
}
