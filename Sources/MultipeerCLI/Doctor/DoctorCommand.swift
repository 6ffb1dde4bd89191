import MultipeerCommandLine
import MultipeerEssentials

/// `multipeer doctor`: diagnoses why peers do not find each other.
enum DoctorCommand: Subcommand {
    private static let both = Usage.Option(
        "--both", "test both ways: PEER is an address, and its user runs the same with yours at the same time"
    )

    static let usage = Usage(
        ["doctor"], operands: "[PEER]", mostOperands: 1, "diagnose connection problems",
        details: """
            With PEER, the name of a peer, or its IP address or host name with its port if that is not \(PortOption.standard):
            finds it, and tests whether this machine reaches its port. A TCP connection is made and closed, and one empty datagram
            is sent to the same port; its user is not asked and sees nothing. Then doctor measures whether packets of this machine's
            full size arrive: some networks drop large ones without a word, and everything works until there is data.
            A connection that is accepted shows that answers to it come back, and so does the answer to a datagram, which only
            another doctor gives.

            Whether the peer reaches a port of this machine, the peer has to try: run doctor with --both and the address of the
            other machine on both at once. Each listens at --port, which no other command may use then, tries the port of the
            other until it has answered, and reports what has arrived. It waits 60 seconds, or --timeout.

            Without PEER, doctor checks everything between two peers that this machine can check: network interfaces,
            multicast, UDP port 5353 and the processes that use it, packet filters, other multicast DNS programs, the
            clock, OpenSSL, limits, and with --send whether another machine announces the id of this one. Each line
            begins with ok, note or problem; a line with an arrow is a hint.

            Nothing is changed, and without PEER and --send nothing is sent to other machines. --send sends multicast DNS queries
            on each interface; every host there may answer. Root sees more: the processes of other users that use the port,
            and the rules of the packet filter.
            """,
        options: [
            both, PortOption.option,
            .init(
                "--timeout", "SECONDS",
                "with --both, how long to wait for the other side, 1 to 600; default: 60"),
            InterfaceSelection.option, DiscoveryOptions.type,
            .init("--send", "test multicast on every allowed interface, not only on lo"),
            .init("--json", "print JSON"),
        ], exits: [.linkFailed, .system, .interrupted])

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let selectedInterfaces = InterfaceSelection(arguments)
        let isSending = arguments.has("--send")
        if isSending { try arguments.exclude(["--send"], orOperand: true) }
        if arguments.has(both.name) { return try await report(testBoth(arguments), arguments) }
        if let peer = arguments.operands.first { return try await report(probe(peer, arguments), arguments) }
        let diagnosis = try await Worker("doctor").run { () throws(CommandError) in
            try examine(selectedInterfaces, isSending: isSending)
        }
        let own = await OwnIDCheck.look(try DiscoveryOptions(arguments), sending: isSending)
        try report(Diagnosis(diagnosis.findings + [own].compactMap(\.self)), arguments)
    }

    /// Finds a peer, and tries each of its addresses.
    private static func probe(_ text: String, _ arguments: Arguments) async throws(CommandError) -> Diagnosis
    {
        let addresses: [SocketAddress]
        var own: Finding?
        if let address = try PeerAddress.read(text, takesNames: true, arguments) {
            addresses = try await address.addresses()
        } else {
            let (peer, places) = try await find(text, DiscoveryOptions(arguments))
            addresses = places
            own = try OwnIDCheck.finding(about: peer, at: places)
        }
        let probes = await withTaskGroup(of: (Int, AddressProbe).self) { group in
            for (index, address) in addresses.enumerated() {
                group.addTask { (index, await AddressProbe.result(address)) }
            }
            var all: [(Int, AddressProbe)] = []
            for await found in group { all.append(found) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
        let isReached = probes.contains { $0.tcp == .open }
        var findings = probes.flatMap(\.findings)
        for probe in probes {
            if let path = await PathProbe.result(probe) { findings.append(path.finding) }
        }
        return Diagnosis([own].compactMap(\.self) + findings + (isReached ? [wayBack] : []))
    }

    private static let wayBack = Finding.note(
        "way back", "not tested: whether the peer reaches a port of this machine",
        hint: "'\(Terminal.name) doctor ADDRESS \(both.name)' on both machines at once tests it")

    private static func testBoth(_ arguments: Arguments) async throws(CommandError) -> Diagnosis {
        guard let text = arguments.operands.first,
            let address = try PeerAddress.read(text, takesNames: true, arguments)
        else {
            throw arguments.commandError("\(both.name) needs the address of the other machine")
        }
        let time = try Duration.seconds(arguments.number("--timeout", in: 1...600) ?? 60)
        let port = try PortOption.number(arguments)
        guard let place = try await address.addresses().first else { return Diagnosis([]) }
        Terminal.say(
            "testing both ways with \(place); the other side runs '\(Terminal.name) doctor ADDRESS --both', too"
        )
        return Diagnosis(try await WayBack.test(place, at: port, within: time))
    }

    private static func find(
        _ text: String, _ options: DiscoveryOptions
    ) async throws(CommandError) -> (PeerID, [SocketAddress]) {
        guard let selector = PeerSelector(text) else {
            throw CommandError(
                "a peer is given as NAME, NAME#DIGITS, #DIGITS of an id or ADDRESS", exit: .usage)
        }
        let own = try CommandError.translating { () throws(MultipeerError) in
            try PeerID(displayName: "doctor")
        }
        let browser = Browser(peer: own, service: options.service, configuration: options.configuration)
        do throws(MultipeerError) { try await browser.start() } catch { throw CommandError(error) }
        let matcher = PeerMatcher(
            for: selector, as: nil, within: options.selectedInterfaces.isLoopbackOnly ? .machine : .network)
        let search = PeerSearch(browser, matcher, for: text, options, within: searchTime)
        let found = try await search.peer(
            hint: "without PEER, doctor checks why; with an address it needs no multicast")
        await browser.stop()
        Terminal.say("found \(found.introduction)")
        let addresses = try await CommandError.translating { () async throws(MultipeerError) in
            try await options.configuration.chosenBackend().resolve(
                found, options.service, within: searchTime)
        }
        return (found, addresses)
    }

    private static let searchTime = Duration.seconds(5)

    private static func report(_ diagnosis: Diagnosis, _ arguments: Arguments) throws(CommandError) {
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
        if let fault = InterfaceMonitors.problem() { findings.append(unreported(fault)) }
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

    static func unreported(_ fault: SocketFault) -> Finding {
        .note(
            "netlink", "the kernel does not report changes of the interfaces to this program: \(fault)",
            hint: "a sandbox forbids it, such as a filter of seccomp; changes are noticed two seconds later")
    }

    /// Returns one address of each family that multicast works with; on a loopback interface only IPv4.
    private static func addresses(of interface: NetworkInterface) -> [SocketAddress.Host] {
        let hosts = interface.addresses.map(\.host)
        let four = hosts.first(where: \.isV4)
        let six = interface.isLoopback ? nil : hosts.first { !$0.isV4 && $0.isLinkLocal }
        return [four, six].compactMap { $0 }
    }
}
