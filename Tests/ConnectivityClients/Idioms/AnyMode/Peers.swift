import MultipeerConnectivity

// Peers as values: names, comparison, and every collection that applications keep them in.

// idiom: a local peer with the name of the device or the host

#if canImport(UIKit)
    import UIKit

    @MainActor func localPeer() -> MCPeerID { MCPeerID(displayName: UIDevice.current.name) }
#else
    func localPeer() -> MCPeerID { MCPeerID(displayName: ProcessInfo.processInfo.hostName) }
#endif

// idiom: a name cut to 63 bytes of UTF-8

func peer(named text: String) -> MCPeerID {
    var name = text.trimmingCharacters(in: .whitespacesAndNewlines)
    while name.utf8.count > 63 { name.removeLast() }
    return MCPeerID(displayName: name.isEmpty ? "Anonymous" : name)
}

// idiom: a dictionary keyed by peers

struct Scores {
    private var points: [MCPeerID: Int] = [:]

    mutating func add(_ more: Int, to peer: MCPeerID) { points[peer, default: 0] += more }
    mutating func forget(_ peer: MCPeerID) { points.removeValue(forKey: peer) }

    var leader: MCPeerID? { points.max { $0.value < $1.value }?.key }
    var total: Int { points.values.reduce(0, +) }
}

// idiom: sets of peers, and their difference

func newcomers(found: Set<MCPeerID>, in session: MCSession) -> Set<MCPeerID> {
    let connected = Set(session.connectedPeers)
    return found.subtracting(connected).filter { $0 != session.myPeerID }
}

// idiom: a sorted list of peers without duplicates

struct PeerList {
    private(set) var peers: [MCPeerID] = []

    mutating func add(_ peer: MCPeerID) {
        guard !peers.contains(peer) else { return }
        peers.append(peer)
        peers.sort { $0.displayName.localizedCaseInsensitiveCompare($1.displayName) == .orderedAscending }
    }

    mutating func remove(_ peer: MCPeerID) {
        if let index = peers.firstIndex(of: peer) { peers.remove(at: index) }
    }

    mutating func removeAll(named name: String) { peers.removeAll { $0.displayName == name } }
}

// idiom: looking a peer up by its name

func peers(named name: String, in session: MCSession) -> (first: MCPeerID?, all: [MCPeerID]) {
    let byName = Dictionary(grouping: session.connectedPeers, by: \.displayName)
    return (session.connectedPeers.first { $0.displayName == name }, byName[name, default: []])
}

// idiom: peers compared with ==, === and isEqual

func isLocal(_ peer: MCPeerID, in session: MCSession) -> Bool {
    peer === session.myPeerID || peer == session.myPeerID || peer.isEqual(session.myPeerID)
}

// idiom: hash values compared to decide which peer invites

func isInviter(_ me: MCPeerID, of other: MCPeerID) -> Bool {
    if me.hash == other.hash { return me.displayName < other.displayName }
    return me.hashValue < other.hashValue
}

// idiom: an Identifiable row that contains a peer

struct PeerRow: Identifiable, Hashable {
    let peer: MCPeerID
    var isConnected = false
    var lastSeen = Date()

    var id: MCPeerID { peer }
    var title: String { "\(peer.displayName)\(isConnected ? " ✓" : "")" }
}

// idiom: retroactive conformances of peers to Identifiable and Comparable

extension MCPeerID: @retroactive Identifiable {}

extension MCPeerID: @retroactive Comparable {
    /// Compares the names.
    public static func < (left: MCPeerID, right: MCPeerID) -> Bool { left.displayName < right.displayName }
}

// idiom: computed properties in an extension of the peer

extension MCPeerID {
    var shortID: String { "\(displayName)#\(UInt(bitPattern: hash) % 1000)" }
    var initials: String { displayName.split(separator: " ").compactMap(\.first).map(String.init).joined() }
}

// idiom: Foundation's collections with peers

func foundationCollections(of peers: [MCPeerID]) -> (NSArray, NSSet, NSMutableDictionary) {
    let table = NSMutableDictionary()
    for (index, peer) in peers.enumerated() { table[peer] = index }
    return (NSArray(array: peers), NSSet(array: peers), table)
}

// idiom: a cache with peers as keys

final class Thumbnails {
    private let cache = NSCache<MCPeerID, NSData>()

    func keep(_ image: Data, of peer: MCPeerID) { cache.setObject(NSData(data: image), forKey: peer) }
    func image(of peer: MCPeerID) -> Data? { cache.object(forKey: peer).map { Data(referencing: $0) } }
}

// idiom: a peer in interpolated text

func line(about peer: MCPeerID, _ session: MCSession) -> String {
    "\(peer) joined \(session.myPeerID.displayName): \(String(describing: peer)), \(peer.debugDescription)"
}
