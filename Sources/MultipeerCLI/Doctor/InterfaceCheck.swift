import MultipeerCommandLine
import MultipeerEssentials

/// The network interfaces, and whether peers can be found on one of them.
package struct InterfaceCheck: Sendable {
    package struct Interface: Sendable {
        package let name: String
        package let isUp: Bool
        package let isLoopback: Bool
        /// Whether it has the multicast flag; nil when unknown.
        package let isMulticast: Bool?
        package let addresses: [String]
        /// Whether discovery may use it.
        package let isAllowed: Bool

        package init(
            name: String, isUp: Bool = true, isLoopback: Bool = false, isMulticast: Bool? = true,
            addresses: [String], isAllowed: Bool = true
        ) {
            self.name = name
            self.isUp = isUp
            self.isLoopback = isLoopback
            self.isMulticast = isMulticast
            self.addresses = addresses
            self.isAllowed = isAllowed
        }
    }

    private static let topic = "interface"
    package let interfaces: [Interface]
    /// The names that were requested.
    package let wanted: [String]

    package init(_ interfaces: [Interface], wanted: [String] = []) {
        self.interfaces = interfaces
        self.wanted = wanted
    }

    init(_ interfaces: [NetworkInterface], _ scope: InterfaceSelection) {
        wanted = scope.names
        self.interfaces = interfaces.map { one in
            Interface(
                name: one.name, isUp: one.isUp, isLoopback: one.isLoopback,
                isMulticast: InterfaceCheck.canMulticast(one.name),
                addresses: one.addresses.map { "\($0.host.on(interface: 0))/\($0.prefix)" },
                isAllowed: scope.allows(one))
        }
    }

    /// Reads the flags as in `net/if.h`.
    private static func canMulticast(_ name: String) -> Bool? {
        guard let bytes = try? AtomicFile.read("/sys/class/net/\(name)/flags", limit: 64) else { return nil }
        let digits = String(decoding: bytes, as: UTF8.self).withoutSpacesAround
        return UInt32(digits.dropFirst(2), radix: 16).map { $0 & 0x1000 != 0 }
    }

    package var findings: [Finding] {
        let down = interfaces.filter { !$0.isUp }
        var findings = interfaces.filter(\.isUp).map(finding)
        if !down.isEmpty {
            findings.append(.ok(InterfaceCheck.topic, "down: " + down.map(\.name).joined(separator: ", ")))
        }
        for name in wanted where !interfaces.contains(where: { $0.name == name }) {
            findings.append(
                .problem(
                    InterfaceCheck.topic, "\(name) does not exist",
                    hint: "it is named by --interface or MULTIPEER_INTERFACES"))
        }
        return findings + [reach]
    }

    private func finding(_ one: Interface) -> Finding {
        let kind = one.isLoopback ? "this machine only" : one.isMulticast == false ? "no multicast" : "up"
        let place = one.addresses.isEmpty ? "no address" : one.addresses.joined(separator: ", ")
        let unused =
            one.isLoopback && wanted.isEmpty ? "; not used without --interface lo" : "; not selected"
        let text = "\(one.name): \(kind), \(place)" + (one.isAllowed ? "" : unused)
        if one.isAllowed, !one.isLoopback, one.isMulticast == false, !one.addresses.isEmpty {
            return .note(
                InterfaceCheck.topic, text,
                hint:
                    "no peers are found there; try 'ip link set \(one.name) multicast on' if the network supports it"
            )
        }
        return .ok(InterfaceCheck.topic, text)
    }

    /// Whether discovery can reach any other machine.
    private var reach: Finding {
        let topic = "reach"
        let allowed = interfaces.filter { $0.isAllowed && $0.isUp && !$0.addresses.isEmpty }
        let outward = allowed.filter { !$0.isLoopback && $0.isMulticast != false }.map(\.name)
        if !outward.isEmpty {
            return .ok(topic, "browsing for peers on \(outward.joined(separator: ", "))")
        }
        if !wanted.isEmpty, allowed.contains(where: \.isLoopback) {
            return .note(
                topic, "only peers on this machine can be found",
                hint: "because of --interface or MULTIPEER_INTERFACES")
        }
        return .problem(
            topic, "no peers can be found: no usable network interface",
            hint:
                "no interface is up, has an address and supports multicast; '--interface lo' finds peers on this machine"
        )
    }
}
