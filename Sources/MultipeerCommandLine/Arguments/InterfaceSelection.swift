package import MultipeerEssentials

/// The network interfaces on which peers are advertised and browsed.
package struct InterfaceSelection: Equatable, Sendable {
    package static let option = Usage.Option(
        "--interface", "NAME", isRepeatable: true,
        "use only this interface, such as eth0; lo keeps everything on this machine; default: the comma-separated list in "
            + "the variable MULTIPEER_INTERFACES, or all interfaces")

    /// Empty for all interfaces.
    package let names: [String]

    package init(_ names: [String]) { self.names = names }

    /// Takes the interfaces from the options, or else from the environment.
    package init(_ arguments: Arguments) {
        let given = arguments.values(InterfaceSelection.option.name)
        self = given.isEmpty ? .ofEnvironment : InterfaceSelection(given)
    }

    package static var ofEnvironment: InterfaceSelection {
        let text = Environment.value(DiscoveryConfiguration.variable) ?? ""
        let names = text.pieces(at: ",").map { $0.filter { $0 != " " } }
        return InterfaceSelection(names.filter { !$0.isEmpty })
    }

    /// Whether nothing leaves this machine.
    package var isLoopbackOnly: Bool { !names.isEmpty && names.allSatisfy { $0 == "lo" } }

    /// Whether no interface was named.
    package var isEverywhere: Bool { names.isEmpty }

    package func allows(_ interface: NetworkInterface) -> Bool {
        names.isEmpty ? !interface.isLoopback : names.contains(interface.name)
    }

    /// Where a session listens by default; empty for all addresses.
    package var listenAddresses: [SocketAddress] { isLoopbackOnly ? [.loopback] : [] }

    package var configuration: DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration.standard
        if isLoopbackOnly {
            configuration.interfaces = .loopback
        } else if !names.isEmpty {
            configuration.interfaces = .only(names)
        }
        return configuration
    }
}
