import Foundation
package import Multipeer

/// On which network interfaces peers are announced and sought.
package struct InterfaceSelection: Equatable, Sendable {
    package static let option = Usage.Option(
        "--interface", "NAME", isRepeatable: true,
        "find and be found there alone, as eth0; lo keeps everything on this machine; default: what the variable "
            + "MULTIPEER_INTERFACES lists with commas, or all")

    /// Empty: on all of them.
    package let names: [String]

    package init(_ names: [String]) { self.names = names }

    /// What the options say, or else the environment.
    package init(_ arguments: Arguments) {
        let given = arguments.values(InterfaceSelection.option.name)
        self = given.isEmpty ? .ofEnvironment : InterfaceSelection(given)
    }

    package static var ofEnvironment: InterfaceSelection {
        let text = ProcessInfo.processInfo.environment[DiscoveryConfiguration.variable] ?? ""
        let names = text.split(separator: ",").map { $0.filter { $0 != " " } }
        return InterfaceSelection(names.filter { !$0.isEmpty })
    }

    /// Whether nothing leaves this machine.
    package var isLoopbackOnly: Bool { !names.isEmpty && names.allSatisfy { $0 == "lo" } }

    /// Whether nobody has said where.
    package var isEverywhere: Bool { names.isEmpty }

    package func allows(_ interface: NetworkInterface) -> Bool {
        names.isEmpty ? !interface.isLoopback : names.contains(interface.name)
    }

    /// Where a session listens unless it was told otherwise; empty is everywhere.
    package var listening: [SocketAddress] { isLoopbackOnly ? [.loopback] : [] }

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
