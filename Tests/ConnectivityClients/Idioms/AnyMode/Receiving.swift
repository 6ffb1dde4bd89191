import MultipeerConnectivity

// Messages that arrive: decoding and dispatching them.

// idiom: a session delegate whose methods do nothing, for subclasses

class SilentSessionDelegate: NSObject, MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {}
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}
    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {}
    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
    ) {}
}

// idiom: a message decoded as UTF-8 text

final class ChatReceiver: SilentSessionDelegate {
    private(set) var lines: [(sender: String, text: String)] = []

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let text = String(data: data, encoding: .utf8), !text.isEmpty else { return }
        lines.append((peerID.displayName, text))
    }
}

// idiom: a value decoded from JSON, with a default for data that cannot be decoded

final class MoveReceiver: SilentSessionDelegate {
    private lazy var decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }()
    private(set) var moves: [MCPeerID: [GameMessage]] = [:]

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let message = (try? decoder.decode(GameMessage.self, from: data)) ?? .chat("?")
        moves[peerID, default: []].append(message)
    }
}

// idiom: one type after the other is tried

func describe(_ data: Data) -> String {
    if let message = try? JSONDecoder().decode(GameMessage.self, from: data) { return "\(message)" }
    if let settings = try? PropertyListDecoder().decode([String: String].self, from: data) {
        return settings.keys.sorted().joined(separator: ", ")
    }
    return String(decoding: data, as: UTF8.self)
}

// idiom: a switch over the first byte of a message

final class PacketReceiver: SilentSessionDelegate {
    private(set) var typing: Set<MCPeerID> = []
    private(set) var pictures: [Data] = []

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        let payload = data.dropFirst()
        switch data.first.flatMap(PacketKind.init(rawValue:)) {
        case .picture: pictures.append(Data(payload))
        case .typing: typing.insert(peerID)
        case .text: print(String(decoding: payload, as: UTF8.self))
        case nil: break
        }
    }
}

// idiom: a table of handlers, one for each kind of message

final class MessageRouter: SilentSessionDelegate {
    typealias Handler = (Data, MCPeerID) throws -> Void
    private var handlers: [String: Handler] = [:]

    func on<Value: Decodable>(_ kind: String, do action: @escaping (Value, MCPeerID) -> Void) {
        handlers[kind] = { data, peer in action(try JSONDecoder().decode(Value.self, from: data), peer) }
    }

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return }
        if let kind = object["kind"] as? String { try? handlers[kind]?(data, peerID) }
    }
}

// idiom: raw numbers read from the bytes of a message

func vector(from data: Data) -> Vector3? {
    guard data.count == MemoryLayout<Vector3>.size else { return nil }
    return data.withUnsafeBytes { $0.loadUnaligned(as: Vector3.self) }
}

func samples(from data: Data) -> [Float] {
    data.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count - 3, by: 4).map {
            bytes.loadUnaligned(fromByteOffset: $0, as: Float.self)
        }
    }
}

// idiom: duplicate messages are dropped, new ones are forwarded to the other peers

final class Gossip: SilentSessionDelegate {
    private var seen: Set<UUID> = []

    override func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        guard let message = try? JSONDecoder().decode(Envelope<String>.self, from: data),
            seen.insert(message.id).inserted
        else { return }
        try? session.broadcast(data, except: peerID)
    }
}

// idiom: slices are collected until all of them have arrived

struct Reassembly {
    private var parts: [MCPeerID: [Int: Data]] = [:]

    mutating func add(_ slice: Data, index: Int, of count: Int, from peer: MCPeerID) -> Data? {
        parts[peer, default: [:]][index] = slice
        guard let complete = parts[peer], complete.count == count else { return nil }
        parts[peer] = nil
        return (0..<count).compactMap { complete[$0] }.reduce(into: Data()) { $0.append($1) }
    }
}

// idiom: values cast to Foundation's objects, and logged with a format string

func logCasts(_ data: Data, _ peer: MCPeerID, _ info: [String: String]) {
    let (object, list, table) = (data as NSData, [peer] as NSArray, info as NSDictionary)
    NSLog("%@", "lostPeer: \(peer.displayName)")
    print(String(format: "%d bytes from %@", object.length, peer.displayName), list.count, table.count)
}
