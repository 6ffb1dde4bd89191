import MultipeerTransport

@unsafe @preconcurrency import MultipeerConnectivity

/// The network of a test's devices: nothing of it leaves the machine, and no other test shares it.
struct TestNetwork: Sendable {
    let type: String
    var discovery: DiscoveryConfiguration

    enum Kind: String, CaseIterable, Sendable { case memory, multicast }

    init(_ kind: Kind = .memory) {
        type =
            "t" + String((0..<12).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() ?? "x" })
        discovery = .loopback
        if kind == .memory { discovery.backend = InMemoryDiscovery() }
    }

    /// A network on which no peer can be found.
    static var nowhere: TestNetwork {
        var network = TestNetwork()
        network.discovery = DiscoveryConfiguration(interfaces: .only(["no-such-link"]))
        return network
    }
}

/// Returns devices that have found each other.
func meeting(
    _ names: [String], _ network: TestNetwork = TestNetwork(), _ manners: Device.InvitationPolicy = .accepts
) async throws -> [Device] {
    let devices = names.map { Device($0, network, manners) }
    for device in devices { device.start() }
    for device in devices {
        for other in devices where other !== device { try await device.finds(other) }
    }
    return devices
}

extension [Device] {
    func stop() { for device in self { device.stop() } }
}
