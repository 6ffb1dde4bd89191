import MultipeerConnectivity

// The local peer is kept between two launches, so that others recognise it.

// idiom: the local peer is archived securely in the user defaults

func restoredPeer(named name: String, from defaults: UserDefaults = .standard) -> MCPeerID {
    if let data = defaults.data(forKey: "localPeer"),
        let peer = try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data),
        peer.displayName == name
    {
        return peer
    }
    let peer = MCPeerID(displayName: name)
    if let data = try? NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true) {
        defaults.set(data, forKey: "localPeer")
    }
    return peer
}

// idiom: a property wrapper keeps any archived object in the user defaults

@propertyWrapper
struct Archived<Value: NSObject & NSSecureCoding> {
    let key: String

    var wrappedValue: Value? {
        get {
            guard let data = UserDefaults.standard.data(forKey: key) else { return nil }
            return try? NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data)
        }
        nonmutating set {
            let data = newValue.flatMap {
                try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true)
            }
            UserDefaults.standard.set(data, forKey: key)
        }
    }
}

struct PeerSettings {
    @Archived(key: "peer") var peer: MCPeerID?
}

// idiom: a list of known peers in one archive

func archive(of peers: [MCPeerID]) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: NSArray(array: peers), requiringSecureCoding: true)
}

func known(in data: Data) throws -> [MCPeerID] {
    let classes = [NSArray.self, MCPeerID.self]
    let list = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
    return list as? [MCPeerID] ?? []
}

// idiom: an archiver used by hand, with several keys

func handMadeArchive(_ peer: MCPeerID, room: String) throws -> (MCPeerID?, String?) {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.encode(peer, forKey: "peer")
    archiver.encode(NSString(string: room), forKey: "room")
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    defer { unarchiver.finishDecoding() }
    let read = unarchiver.decodeObject(of: MCPeerID.self, forKey: "peer")
    return (read, unarchiver.decodeObject(of: NSString.self, forKey: "room").map { "\($0)" })
}

// idiom: a Codable value that contains a peer's archive

struct StoredPeer: Codable {
    private let archive: Data

    init(_ peer: MCPeerID) throws {
        archive = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    }

    var peer: MCPeerID? {
        try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive)
    }
}

// idiom: peers in a file in the application support folder

struct PeerFile {
    let url: URL

    init(named name: String = "peers.archive") throws {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        url = folder.appendingPathComponent(name)
    }

    func save(_ peers: [MCPeerID]) throws { try archive(of: peers).write(to: url, options: .atomic) }
    func load() throws -> [MCPeerID] { try known(in: Data(contentsOf: url)) }
}

// idiom: a class of the application that archives a peer with other values

final class Friend: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let peer: MCPeerID
    let nickname: String

    init(peer: MCPeerID, nickname: String) { (self.peer, self.nickname) = (peer, nickname) }

    init?(coder: NSCoder) {
        guard let peer = coder.decodeObject(of: MCPeerID.self, forKey: "peer"),
            let nickname = coder.decodeObject(of: NSString.self, forKey: "nickname")
        else { return nil }
        (self.peer, self.nickname) = (peer, "\(nickname)")
    }

    func encode(with coder: NSCoder) {
        coder.encode(peer, forKey: "peer")
        coder.encode(NSString(string: nickname), forKey: "nickname")
    }
}

// idiom: a peer that is encoded as its name

extension MCPeerID: @retroactive Encodable {
    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(displayName)
    }
}
