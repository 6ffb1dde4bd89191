import MultipeerConnectivity

// Outgoing messages: text, encoded values, and raw bytes.

// idiom: text to all connected peers

func say(_ text: String, in session: MCSession) {
    guard let data = text.data(using: .utf8), session.connectedPeers.count > 0 else { return }
    do {
        try session.send(data, toPeers: session.connectedPeers, with: .reliable)
    } catch let error {
        print("Error while sending: \(error.localizedDescription)")
    }
}

// idiom: an extension of the session with the application's methods

extension MCSession {
    func broadcast(_ data: Data, except excluded: MCPeerID? = nil) throws {
        let peers = connectedPeers.filter { $0 != excluded }
        if !peers.isEmpty { try send(data, toPeers: peers, with: .reliable) }
    }

    var isAlone: Bool { connectedPeers.isEmpty }
}

// idiom: any Encodable value, as JSON, to some peers or to all

extension MCSession {
    func send<Value: Encodable>(_ value: Value, to peers: [MCPeerID]? = nil, reliably: Bool = true) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let mode: MCSessionSendDataMode = reliably ? .reliable : .unreliable
        try send(encoder.encode(value), toPeers: peers ?? connectedPeers, with: mode)
    }
}

// idiom: a message as an enumeration with associated values

enum GameMessage: Codable, Equatable {
    case hello(name: String, color: String)
    case move(row: Int, column: Int)
    case chat(String)
    case resign

    func data() throws -> Data { try JSONEncoder().encode(self) }
}

// idiom: a binary property list

func propertyList(_ settings: [String: String]) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return try encoder.encode(settings)
}

// idiom: an untyped dictionary as JSON

func untyped(_ event: String, _ values: [String: Any]) throws -> Data {
    var object = values
    object["event"] = event
    object["time"] = Date().timeIntervalSince1970
    return try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
}

// idiom: a dictionary in a keyed archive, as older applications send it

func archived(_ message: [String: String]) throws -> Data {
    try NSKeyedArchiver.archivedData(
        withRootObject: NSDictionary(dictionary: message), requiringSecureCoding: false)
}

// idiom: a byte for the kind of message before the payload

enum PacketKind: UInt8 { case text = 1, picture, typing }

func packet(_ kind: PacketKind, _ payload: Data) -> Data {
    var data = Data([kind.rawValue])
    data.append(payload)
    return data
}

// idiom: raw numbers, sent unreliably

struct Vector3 { var x = Float(0), y = Float(0), z = Float(0) }

func send(_ position: Vector3, to peers: [MCPeerID], in session: MCSession) throws {
    let data = withUnsafeBytes(of: position) { Data($0) }
    try session.send(data, toPeers: peers, with: .unreliable)
}

func send(_ samples: [Float], to peer: MCPeerID, in session: MCSession) throws {
    let data = samples.withUnsafeBufferPointer { Data(buffer: $0) }
    try session.send(data, toPeers: [peer], with: .unreliable)
}

// idiom: a number in network byte order before the payload

func framed(_ payload: Data, sequence: UInt32) -> Data {
    var number = sequence.bigEndian
    return Data(bytes: &number, count: MemoryLayout<UInt32>.size) + payload
}

// idiom: long data cut into slices

func slices(of data: Data, size: Int = 16_384) -> [Data] {
    stride(from: 0, to: data.count, by: size).map { start in
        data.subdata(in: start..<min(start + size, data.count))
    }
}

// idiom: several values of different types in one call

func sendAll<each Value: Encodable>(_ value: repeat each Value, in session: MCSession) throws {
    for value in repeat each value { try session.send(value) }
}

// idiom: a typed envelope around any payload

struct Envelope<Payload: Codable>: Codable {
    var id = UUID()
    var sender: String
    var sent = Date()
    var payload: Payload

    init(_ payload: Payload, from peer: MCPeerID) { (sender, self.payload) = (peer.displayName, payload) }
}
