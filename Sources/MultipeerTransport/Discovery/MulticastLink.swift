package import MultipeerDiscovery

/// An interface that takes part in multicast DNS: what the engine and its sockets need to know about it.
package struct MulticastLink: Hashable, Sendable {
    package let name: String
    package let scope: Scope
    /// The source address of packets of each family.
    package let sources: [Family: SocketAddress.Host]

    /// Returns nil for an interface that is not usable, or has no address of these families.
    init?(_ interface: InterfaceTable.Interface, _ families: Set<Family>) {
        guard interface.isUp, interface.carriesMulticast, !interface.isPointToPoint else { return nil }
        let addresses = interface.usableAddresses.filter { families.contains($0.family) }
        var sources: [Family: SocketAddress.Host] = [:]
        // Packets to neighbours come from the address with their scope: the link-local one of IPv6.
        for address in addresses {
            let isBetter = address.family == .v6 && address.host.isLinkLocal
            if sources[address.family] == nil || isBetter && sources[address.family]?.isLinkLocal == false {
                sources[address.family] = address.host
            }
        }
        if sources.isEmpty { return nil }  // [mdns.scope]
        name = interface.name
        self.sources = sources
        scope = Scope(
            id: interface.index, isLoopback: interface.isLoopback,
            addresses: addresses.map { Scope.Address($0.host.bytes, prefix: Int($0.prefix)) }.sorted(),
            families: Set(sources.keys), mtu: Int(min(interface.mtu == 0 ? 1_500 : interface.mtu, 65_536)))
    }
}

extension InterfaceTable.Address {
    fileprivate var family: Family { host.isV4 ? .v4 : .v6 }
}

// MARK: - Which interfaces take part

extension MulticastSettings {
    /// The maximum number of interfaces; those with IPv4 come first, since a virtual one for each container has only IPv6.
    private static let mostLinks = 32

    private var engineFamilies: Set<Family> { Set(families.map { $0 == .v4 ? .v4 : .v6 }) }

    /// Returns those that take part now.
    package func links(in table: InterfaceTable) -> [MulticastLink] {
        let fit = table.all.filter { takes($0) }.compactMap { MulticastLink($0, engineFamilies) }
        let preferred = fit.filter { $0.sources[.v4] != nil } + fit.filter { $0.sources[.v4] == nil }
        return preferred.prefix(MulticastSettings.mostLinks).sorted { $0.scope.id < $1.scope.id }
    }

    private func takes(_ interface: InterfaceTable.Interface) -> Bool {
        switch interfaces {
        case .all: !interface.isLoopback
        case .loopback: interface.isLoopback
        case .only(let names): names.contains(interface.name)
        }
    }

    /// Returns the error of the configuration itself: a name that no interface has.
    package func validationError(about table: InterfaceTable) -> MultipeerError? {
        guard case .only(let names) = interfaces else { return nil }
        let known = table.all.map(\.name)
        guard let unknown = names.first(where: { !known.contains($0) }) else { return nil }
        return MultipeerError(
            .discovery,
            "no network interface '\(unknown)'; available: \(known.joined(separator: ", "))")
    }

    /// Returns whether an interface may take part soon: one that has just come up first waits for its carrier, and then checks
    /// its IPv6 addresses for a second or two before they may be used.
    package func mayServeSoon(in table: InterfaceTable) -> Bool {
        table.all.contains { takes($0) && $0.lacksAddress }
    }

    /// Returns why no interface takes part.
    package func reason(in table: InterfaceTable) -> MultipeerError {
        let chosen = table.all.filter { takes($0) }
        let hint = MultipeerError.withoutDiscovery
        guard !chosen.isEmpty else {
            let what = interfaces == .loopback ? "no loopback interface" : "no network interface but loopback"
            return MultipeerError(.discovery, "there is \(what); \(hint)")
        }
        let reasons = chosen.map { "\($0.name) \($0.obstacle)" }.joined(separator: ", ")
        return MultipeerError(.discovery, "no usable network interface: \(reasons); \(hint)")
    }
}

extension InterfaceTable.Interface {
    /// Why it does not take part, for a text after its name.
    fileprivate var obstacle: String {
        if !isUp { return "is down" }
        if isPointToPoint { return "is point-to-point" }
        if !carriesMulticast { return "carries no multicast" }
        return "has no usable address"
    }

    fileprivate var lacksAddress: Bool {
        isSwitchedOn && !isPointToPoint && !isLoopback && carriesMulticast
            && (!isUp || usableAddresses.isEmpty)
    }
}
