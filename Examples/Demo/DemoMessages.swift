import Multipeer

/// What the demonstration tells one of its peers, a line of JSON each.
enum DemoOrder: Codable, Sendable {
    /// Be found, find all others, and link with them.
    case meet
    /// Say something to all who are linked.
    case say(text: String)
    /// Greet everybody.
    case greet
    /// Find out how fast the link to this peer is.
    case measure(peer: String, seconds: Double)
    /// Send this peer a file, a stream and datagrams.
    case deliver(peer: String)
    case leave
}

/// What a peer of the demonstration reports, a line of JSON each.
enum DemoReport: Codable, Sendable {
    case ready(process: Int32)
    /// Somebody was found on the network.
    case found(peer: String)
    /// Somebody has invited this peer.
    case invited(by: String)
    /// A link stands, whoever made it.
    case linked(DemoLink)
    case lost(peer: String, reason: String)
    case heard(from: String, text: String)
    case measured(DemoSpeed)
    case delivered(DemoDelivery)
    case failed(text: String)
}

/// One end of a link.
struct DemoLink: Codable, Sendable {
    let peer: String
    let isEncrypted: Bool
    let suite: String?
    let authentication: String
}

/// What one end of a link has measured.
struct DemoSpeed: Codable, Sendable {
    let peer: String
    /// Seconds for 64 bytes there and back, the median of many.
    let roundTrip: Double
    let bytesPerSecond: Double
}

/// What one end of a link has sent, and what the other end says of it.
struct DemoDelivery: Codable, Sendable {
    let peer: String
    let file: DemoTransfer
    let stream: DemoTransfer
    /// How many unreliable messages were sent, how long each was, and how many came that way.
    let datagrams: Int
    let datagramBytes: Int
    let datagramsArrived: Int
}

/// Bytes that arrived, counted at the other end.
struct DemoTransfer: Codable, Sendable {
    let name: String
    let bytes: Int
    /// From the first byte until the other end said that it had the last.
    let seconds: Double
    /// What both ends say that the SHA-256 is; nil for a stream.
    let digest: String?
}

/// What the peers of the demonstration say to each other: one byte for the kind, then anything.
enum DemoMessage: UInt8 {
    case greeting = 1
    case question, answer, bulk, datagram, counting

    func message(_ content: [UInt8] = []) -> [UInt8] { [rawValue] + content }
}
