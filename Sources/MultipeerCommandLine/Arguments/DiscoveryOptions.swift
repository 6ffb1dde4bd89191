package import MultipeerEssentials

/// The options for what is advertised or browsed, and where.
package struct DiscoveryOptions: Sendable {
    package static let type = Usage.Option(
        "--type", "TYPE",
        "the service type, 1 to 15 of a-z, 0-9 and '-'; peers find only peers of the same type; default: "
            + "\(standardType)")
    package static let options = [type, InterfaceSelection.option]
    private static let standardType = "multipeer"

    package let service: ServiceType
    package let selectedInterfaces: InterfaceSelection
    /// Where the secrets of invitations are logged.
    package let keyLog: KeyLog?

    package init(_ arguments: Arguments) throws(CommandError) {
        do throws(MultipeerError) {
            service = try ServiceType(
                arguments.value(DiscoveryOptions.type.name) ?? DiscoveryOptions.standardType)
        } catch {
            throw arguments.commandError("option '--type': \(error)")
        }
        selectedInterfaces = InterfaceSelection(arguments)
        keyLog = try KeyLogOption.read(arguments)
    }

    package var configuration: DiscoveryConfiguration {
        var configuration = selectedInterfaces.configuration
        configuration.keyLog = keyLog
        return configuration
    }

    /// What the other side has to add to its command: nothing, for the standard service type.
    package var typeOption: String {
        service.name == DiscoveryOptions.standardType ? "" : " \(DiscoveryOptions.type.name) \(service)"
    }

    /// The place in words, for people.
    package var place: String {
        if selectedInterfaces.isLoopbackOnly { return "on this machine only" }
        return selectedInterfaces.names.isEmpty
            ? "on the network" : "on \(selectedInterfaces.names.joined(separator: " and "))".printable
    }
}
