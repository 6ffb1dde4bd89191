import Multipeer

/// An order from the demonstration to one of its peers, a line of JSON each.
enum DemoOrder: Codable, Sendable {
    /// Advertise, find all other peers, and link with them.
    case meet
    /// Send a text to all linked peers.
    case say(text: String)
    /// Send a greeting to each linked peer.
    case greet
    /// Measure the link to this peer.
    case measure(peer: String, seconds: Double)
    /// Send this peer a file, a stream and datagrams.
    case deliver(peer: String)
    case leave
}

/// A report from a peer of the demonstration, a line of JSON each.
enum DemoReport: Codable, Sendable {
    case ready(process: Int32)
    /// A peer was found on the network.
    case found(peer: String)
    /// This peer was invited.
    case invited(by: String)
    /// A link is established, from either side.
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
    let verification: String
}

/// The measurements of one end of a link.
struct DemoSpeed: Codable, Sendable {
    let peer: String
    /// The round-trip time of 64 bytes in seconds, the median of many.
    let roundTrip: Double
    let bytesPerSecond: Double
}

/// What one end of a link has sent, as the other end received it.
struct DemoDelivery: Codable, Sendable {
    let peer: String
    let file: DemoTransfer
    let stream: DemoTransfer
    /// The number of unreliable messages sent, their size, and how many arrived as datagrams.
    let datagrams: Int
    let datagramBytes: Int
    let datagramsArrived: Int
}

/// Bytes that arrived, counted at the other end.
struct DemoTransfer: Codable, Sendable {
    let name: String
    let bytes: Int
    /// From the first byte until the other end confirmed the last.
    let seconds: Double
    /// The SHA-256 according to both ends; nil for a stream.
    let digest: String?
}

/// The messages between peers of the demonstration: one byte for the kind, then the content.
enum DemoMessage: UInt8 {
    case greeting = 1
    case question, answer, bulk, datagram, counting

    func message(_ content: [UInt8] = []) -> [UInt8] { [rawValue] + content }
}
