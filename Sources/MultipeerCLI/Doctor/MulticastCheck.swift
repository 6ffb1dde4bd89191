import MultipeerCommandLine
import MultipeerEssentials

/// Whether packets to the multicast DNS group loop back on one interface, and whether other hosts answer.
package struct MulticastCheck: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Nothing was sent.
        case untried
        /// The query looped back; `others` is the number of other hosts that answered it.
        case heard(others: Int)
        case silent
        /// Another process has exclusive use of the port.
        case withoutPort
        /// A rule of this machine drops what it sends.
        case dropped
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

    static let wayOut = "'--to ADDRESS' of send, link and chat needs no multicast"
    private static let timeLimit = Duration.seconds(1)

    /// Queries once what is advertised there; blocks for a second, less on a loopback interface.
    static func look(_ interface: NetworkInterface, from address: SocketAddress.Host, sending: Bool)
        -> MulticastCheck
    {
        let outcome: Outcome
        do throws(SystemFault) {
            outcome = sending ? try attempt(interface, from: address) : .untried
        } catch {
            outcome =
                switch error.code {
                case EADDRINUSE: .withoutPort
                // What `send` says when a rule drops the packet.
                case EPERM: .dropped
                default: .failed(error.reason)
                }
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
        let deadline = ContinuousClock.now + timeLimit
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
                topic, "\(place): not tested; a switch that drops it hides all peers from each other",
                hint: "use --send to test it, which sends a query to every host there")
        case .withoutPort: return .note(topic, "\(place): not tested, since port 5353 is in use")
        case .heard where isLoopback: return .ok(topic, "\(place): packets loop back")
        case .heard(0):
            return .note(
                topic, "\(place): packets loop back, no other host answers",
                hint:
                    "if there are other hosts: a switch, an access point or a firewall may block multicast (client "
                    + "or AP isolation, IGMP snooping, UDP port 5353); \(MulticastCheck.wayOut)")
        case .heard(let others):
            return .ok(
                topic,
                "\(place): packets loop back, \(others == 1 ? "1 other host answers" : "\(others) other hosts answer")"
            )
        case .silent:
            return .problem(
                topic, "\(place): packets do not loop back",
                hint:
                    "a packet filter drops UDP port 5353 or the group \(family == "IPv4" ? "224.0.0.251" : "ff02::fb"); "
                    + MulticastCheck.wayOut
            )
        case .dropped:
            return .problem(
                topic, "\(place): a packet filter of this machine drops what is sent",
                hint: "let out UDP port 5353; \(MulticastCheck.wayOut)")
        case .failed(let reason):
            return .problem(topic, "\(place): \(reason)", hint: MulticastCheck.wayOut)
        }
    }
}

/// A unique multicast DNS query: for all advertised service types, and for a random name.
struct MulticastQuery {
    let bytes: [UInt8]

    init() {
        let name = "mpc-" + String(UInt64.random(in: 0...(.max)), radix: 36)
        bytes =
            [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
            + MulticastQuery.question(["_services", "_dns-sd", "_udp", "local"])
            + MulticastQuery.question([name, "local"])
    }

    /// Returns a question for records of type PTR, class IN, with a multicast response.
    private static func question(_ labels: [String]) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0, 0, 12, 0, 1]
    }

    /// Returns whether the bytes are a response with records.
    static func isAnswer(_ bytes: [UInt8]) -> Bool {
        bytes.count > 12 && bytes[2] & 0x80 != 0 && (bytes[6] | bytes[7]) != 0
    }
}
