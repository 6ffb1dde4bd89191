import MultipeerEngine
import MultipeerFraming

/// One UDP packet on its way.
struct Packet {
    let header: DatagramHeader
    let from: Int
    let to: Int
    let port: UInt16
    let body: Body

    /// There is no real DTLS: the flights contain what real ones would prove.
    enum Body {
        case clientHello, serverHello
        /// The last flights prove that their sender has the key of this context.
        case finished(key: [UInt8]), accepted(key: [UInt8])
        /// `key`: nil on a plain link.
        case content([UInt8], key: [UInt8]?)
    }
}

/// One end of a link's unreliable messages.
struct DatagramEnd {
    /// Whether the owner was asked for a socket, and has one.
    var hasPort = false
    var channel: DatagramAction.Channel?
    var handshake = DTLSHandshake()
    var isUp = false
    /// Messages that the application sent and that are not sealed yet.
    var waiting = 0
    /// The cost of messages that the application has not taken.
    var unread = 0
    /// When a content was last received on this channel.
    var heardAt: Int64?
    /// When it sent the first message or ping on this channel since something came.
    var waitingSince: Int64?
    /// The messages and pings since one arrived.
    var vanished = Vanished()
    /// When it last went down.
    var downAt: Int64?
    /// Since when it has had no channel after it had one.
    var stoppedAt: Int64?

    /// Messages and pings of which none arrived.
    struct Vanished {
        var count = 0
        var first: Int64 = 0
        var last: Int64 = 0

        static let pause: Int64 = 2_000_000_000
    }

    /// Notes that it sends a message or a ping.
    mutating func sends(at now: Int64) {
        waitingSince = waitingSince ?? now
        // One that was lost by chance, long before the others, does not count.
        if now - vanished.last > Vanished.pause { vanished = Vanished(first: now) }
        vanished.count += 1
        vanished.last = now
    }

    /// One end's progress in a handshake.
    struct DTLSHandshake {
        var flights = 0
        var isDone = false
        /// The flight that is repeated.
        var last: Packet.Body?

        mutating func say(_ body: Packet.Body) -> Packet.Body {
            flights += 1
            last = body
            return body
        }
    }

    /// Returns what to send for a flight that was received; nil for nothing. Sets `isDone` when that was the last. A
    /// repeated flight is answered with the last one of this end again.
    mutating func receive(_ body: Packet.Body, key: [UInt8], isClient: Bool) -> Packet.Body? {
        switch (body, isClient) {
        case (.clientHello, false):
            return handshake.flights == 0 ? handshake.say(.serverHello) : handshake.last
        case (.serverHello, true):
            return handshake.flights == 1 ? handshake.say(.finished(key: key)) : handshake.last
        case (.finished, false):
            guard handshake.flights > 0 else { return nil }
            handshake.isDone = true
            return handshake.flights == 1 ? handshake.say(.accepted(key: key)) : handshake.last
        case (.accepted, true):
            handshake.isDone = handshake.flights > 1
            return nil
        default: return nil
        }
    }
}
