import Foundation
import Multipeer
import MultipeerCommandLine

/// Whether what is sent to the group of multicast DNS comes back on one interface, and whether others answer.
package struct MulticastCheck: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Nothing was sent.
        case untried
        /// The own question came back; so many others answered it.
        case heard(others: Int)
        case silent
        /// Somebody has the port alone.
        case withoutPort
        case failed(String)
    }

    package let interface: String
    package let isLoopback: Bool
    package let family: String
    package let outcome: Outcome

    package init(interface: String, isLoopback: Bool, family: String, outcome: Outcome) {
        self.interface = interface
        self.isLoopback = isLoopback
        self.family = family
        self.outcome = outcome
    }

    private static let patience = Duration.seconds(1)

    /// Asks once what is announced there; blocks for a second, on a loopback interface shorter.
    static func look(_ interface: NetworkInterface, from address: SocketAddress.Host, sending: Bool)
        -> MulticastCheck
    {
        let outcome: Outcome
        do throws(SystemFault) {
            outcome = sending ? try attempt(interface, from: address) : .untried
        } catch {
            outcome = error.code == EADDRINUSE ? .withoutPort : .failed(error.reason)
        }
        return MulticastCheck(
            interface: interface.name, isLoopback: interface.isLoopback,
            family: address.isV4 ? "IPv4" : "IPv6", outcome: outcome)
    }

    private static func attempt(
        _ interface: NetworkInterface, from address: SocketAddress.Host
    ) throws(SystemFault) -> Outcome {
        let socket = try MulticastTestSocket.joined(on: interface.index, from: address)
        let question = MulticastQuery()
        try socket.send(question.bytes)
        let own = Set(interface.addresses.map(\.host.bytes))
        var others: Set<[UInt8]> = []
        var hasReturned = false
        let deadline = ContinuousClock.now + patience
        while !(hasReturned && interface.isLoopback), .now < deadline {
            let left = Int(ContinuousClock.now.duration(to: deadline).seconds * 1e3) + 1
            guard let (bytes, sender) = try socket.receive(within: left) else { continue }
            if bytes == question.bytes {
                hasReturned = true
            } else if MulticastQuery.isAnswer(bytes), !own.contains(sender) {
                others.insert(sender)
            }
        }
        return hasReturned ? .heard(others: others.count) : .silent
    }

    package var finding: Finding {
        let topic = "multicast"
        let place = "\(interface), \(family)"
        switch outcome {
        case .untried:
            return .note(
                topic, "\(place): not tried, because that sends a question to everybody there",
                hint: "--send tries it")
        case .withoutPort: return .note(topic, "\(place): not tried, because port 5353 is taken")
        case .heard where isLoopback: return .ok(topic, "\(place): what is sent comes back")
        case .heard(0):
            return .note(
                topic, "\(place): what is sent comes back, nobody else answers",
                hint:
                    "when others are there: a switch, an access point or a firewall keeps multicast apart (client "
                    + "or AP isolation, IGMP snooping, UDP port 5353)")
        case .heard(let others):
            return .ok(
                topic,
                "\(place): what is sent comes back, \(others == 1 ? "1 other answers" : "\(others) others answer")"
            )
        case .silent:
            return .problem(
                topic, "\(place): what is sent does not come back",
                hint:
                    "a packet filter drops UDP port 5353 or the group \(family == "IPv4" ? "224.0.0.251" : "ff02::fb")"
            )
        case .failed(let reason):
            return .problem(
                topic, "\(place): \(reason)",
                hint: "without multicast, connection data can be swapped by hand")
        }
    }
}

/// A question of multicast DNS that nobody else asks: what is announced, and a name that nobody has.
struct MulticastQuery {
    let bytes: [UInt8]

    init() {
        let name = "mpc-" + String(UInt64.random(in: 0...(.max)), radix: 36)
        bytes =
            [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
            + MulticastQuery.question(["_services", "_dns-sd", "_udp", "local"])
            + MulticastQuery.question([name, "local"])
    }

    /// For records of type PTR, class IN, with an answer to all.
    private static func question(_ labels: [String]) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0, 0, 12, 0, 1]
    }

    /// Whether it is an answer and says something.
    static func isAnswer(_ bytes: [UInt8]) -> Bool {
        bytes.count > 12 && bytes[2] & 0x80 != 0 && (bytes[6] | bytes[7]) != 0
    }
}
