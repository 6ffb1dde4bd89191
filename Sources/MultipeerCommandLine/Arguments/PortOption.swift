package import MultipeerEssentials

/// The port of a command that others connect to: one number for invitations, links and datagrams.
package enum PortOption {
    package static let option = Usage.Option(
        "--port", short: "p", "N",
        "the port for everything that peers connect to, TCP and UDP, 1024 to 65535, so that a firewall can allow it; default: "
            + "\(standard), or another if that is in use")
    /// Not assigned to any service by IANA.
    package static let standard: UInt16 = 4_761
    static let range = 1_024...65_535

    /// Returns the number of `--port`, or that of the configuration file, or the standard one.
    package static func number(_ arguments: Arguments) throws(CommandError) -> UInt16 {
        let given = try arguments.number(option.name, in: range).map { UInt16(clamping: $0) }
        if let given { return given }
        return try ConfigurationFile.read().value(.port).flatMap { UInt16($0) } ?? standard
    }

    /// Returns the port of `--port`, the one that the listening addresses name, or that of the configuration file; otherwise one
    /// that is tried first.
    package static func port(
        _ arguments: Arguments, listening ports: [UInt16] = []
    ) throws(CommandError) -> SharedPort {
        let given = try arguments.number(option.name, in: range).map { UInt16(clamping: $0) }
        let all = Set(ports + [given].compactMap(\.self))
        guard all.count < 2 else {
            let numbers = all.sorted().map(String.init).joined(separator: " and ")
            throw arguments.commandError("one command has one port, not \(numbers)")
        }
        let configured = try ConfigurationFile.read().value(.port).flatMap { UInt16($0) }
        return (all.first ?? configured).map { SharedPort($0) } ?? SharedPort(standard, takesOther: true)
    }
}
