import Multipeer
import MultipeerCommandLine

/// `multipeer doctor`: why peers do not see each other.
enum DoctorCommand: Subcommand {
    static let usage = Usage(
        ["doctor"], "say why peers do not see each other",
        details: """
            Looks at everything between two peers that can be looked at from here: network interfaces, multicast, UDP
            port 5353 and who has it, packet filters, other programs that speak multicast DNS, the clock, OpenSSL and
            limits. Each line says ok, note or problem; behind an arrow stands what can be done.

            Nothing is changed, and nothing leaves this machine unless --send is given: then one question of multicast
            DNS is sent on each interface, which everybody there may answer. Root sees more: whose port it is, and the
            rules of the packet filter.
            """,
        options: [
            InterfaceSelection.option,
            .init("--send", "try multicast on every interface that is allowed, not on lo alone"),
            .init("--json", "print JSON"),
        ], exits: [.linkFailed, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let selectedInterfaces = InterfaceSelection(arguments)
        let isSending = arguments.has("--send")
        let diagnosis = try await Worker("doctor").run { () throws(CommandError) in
            try examine(selectedInterfaces, isSending: isSending)
        }
        if arguments.has("--json") {
            try Terminal.put(JSON.encode(diagnosis))
        } else {
            try Terminal.put(diagnosis.text)
        }
        switch diagnosis.problems {
        case 0: break
        case 1: throw CommandError("there is a problem", exit: .linkFailed)
        default: throw CommandError("there are \(diagnosis.problems) problems", exit: .linkFailed)
        }
    }

    private static func examine(_ selectedInterfaces: InterfaceSelection, isSending: Bool)
        throws(CommandError)
        -> Diagnosis
    {
        let interfaces: [NetworkInterface]
        do throws(SocketFault) {
            interfaces = try NetworkInterface.all()
        } catch {
            throw CommandError(
                "the system does not tell its network interfaces: \("\(error)".printable)", exit: .system)
        }
        // Whoever has the port is looked for before this process takes it for a moment itself.
        let port = PortCheck.look().finding
        var findings = InterfaceCheck(interfaces, selectedInterfaces).findings
        for one in interfaces
        where one.isUp && (selectedInterfaces.allows(one) || selectedInterfaces.isEverywhere) {
            for address in addresses(of: one) {
                let check = MulticastCheck.look(one, from: address, sending: one.isLoopback || isSending)
                findings.append(check.finding)
            }
        }
        findings += [port, ResponderCheck.look().finding, FirewallCheck.look().finding]
        return Diagnosis(findings + MachineCheck.look().findings)
    }

    /// One of each family that multicast works with; on a loopback interface that is IPv4 alone.
    private static func addresses(of interface: NetworkInterface) -> [SocketAddress.Host] {
        let hosts = interface.addresses.map(\.host)
        let four = hosts.first(where: \.isV4)
        let six = interface.isLoopback ? nil : hosts.first { !$0.isV4 && $0.isLinkLocal }
        return [four, six].compactMap { $0 }
    }
}
