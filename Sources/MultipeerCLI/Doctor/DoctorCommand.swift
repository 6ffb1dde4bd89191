import Multipeer
import MultipeerCommandLine

/// `multipeer doctor`: diagnoses why peers do not find each other.
enum DoctorCommand: Subcommand {
    static let usage = Usage(
        ["doctor"], "diagnose connection problems",
        details: """
            Checks everything between two peers that this machine can check: network interfaces, multicast, UDP port 5353
            and the processes that use it, packet filters, other multicast DNS programs, the clock, OpenSSL and limits.
            Each line begins with ok, note or problem; a line with an arrow is a hint.

            Changes nothing, and sends nothing to other machines without --send, which sends one multicast DNS query on
            each interface; every host there may answer. Root sees more: the processes of other users that use the port,
            and the rules of the packet filter.
            """,
        options: [
            InterfaceSelection.option,
            .init("--send", "test multicast on every allowed interface, not only on lo"),
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
        case 1: throw CommandError("1 problem found", exit: .linkFailed)
        default: throw CommandError("\(diagnosis.problems) problems found", exit: .linkFailed)
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
                "cannot list network interfaces: \("\(error)".printable)", exit: .system)
        }
        // The users of the port are listed before this process binds it for a moment itself.
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

    /// Returns one address of each family that multicast works with; on a loopback interface only IPv4.
    private static func addresses(of interface: NetworkInterface) -> [SocketAddress.Host] {
        let hosts = interface.addresses.map(\.host)
        let four = hosts.first(where: \.isV4)
        let six = interface.isLoopback ? nil : hosts.first { !$0.isV4 && $0.isLinkLocal }
        return [four, six].compactMap { $0 }
    }
}
