import MultipeerCommandLine
import MultipeerEssentials

/// How other peers reach this one: by its name where discovery works, at an address everywhere else.
struct ListeningPlace: Sendable {
    /// Why discovery is not available, for people; nil if it is.
    let problem: String?
    /// The address and port of this machine, as another command takes them.
    private let address: String?
    private let port: UInt16?
    /// The port that a firewall lets in, if another command has it and others can reach this one.
    private let missed: UInt16?

    /// `advertiser`: one that has been started. `addresses`: those at which the user wants to listen, or none.
    init(of advertiser: Advertiser, at addresses: [SocketAddress]) async {
        let error = await advertiser.discoveryError
        problem = error.map { ListeningPlace.reason($0.description).printable }
        let port = await advertiser.port
        self.port = port
        let isHere = !addresses.isEmpty && addresses.allSatisfy(\.host.isLoopback)
        missed = isHere ? nil : port.flatMap { advertiser.configuration.sharedPort?.number(replacedBy: $0) }
        address = port.flatMap { ListeningPlace.address(addresses, $0) }
    }

    /// Returns why there is no discovery, without the remark that applications get about linking in other ways.
    static func reason(_ description: String) -> String {
        description.replacing(each: "; \(MultipeerError.withoutDiscovery)", with: "")
    }

    /// What another command adds to reach this peer; nothing if it is found by its name.
    var option: String {
        problem == nil ? "" : " \(PeerFinder.option.name) \(address ?? "ADDRESS")"
    }

    /// Why peers do not find or reach this one, if they do not, and with `isVerbose` the port.
    func lines(isVerbose: Bool) -> [String] {
        let missing = problem.map { "discovery is not available on this machine: \($0)" }
        let detail = isVerbose ? port.map { "listening at port \($0)" } : nil
        let replaced = missed.map { wanted in
            "port \(wanted) is in use by another command, so this one listens at \(port.map { "\($0)" } ?? "another"): a firewall "
                + "that lets in only \(wanted) keeps others out"
        }
        return [missing, replaced ?? detail].compactMap(\.self)
    }

    private static func address(_ addresses: [SocketAddress], _ port: UInt16) -> String? {
        let usable = (try? NetworkInterface.all())?.flatMap(\.usableAddresses) ?? []
        let named = addresses.map(\.host).filter { !$0.isUnspecified }
        let hosts = named.isEmpty ? usable + [SocketAddress.loopback.host] : named
        guard let host = hosts.first(where: \.isV4) ?? hosts.first(where: { !$0.isLinkLocal }) else {
            return nil
        }
        return port == PortOption.standard ? "\(host)" : "\(SocketAddress(host, port: port))"
    }
}
