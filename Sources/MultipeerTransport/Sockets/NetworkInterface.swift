import MultipeerPlatform

/// One network interface of this machine, as it was when asked.
package struct NetworkInterface: Hashable, Sendable {
    /// An address and how many of its leading bits are the network's.
    package struct Address: Hashable, Sendable {
        package let host: SocketAddress.Host
        package let prefix: Int

        package init(_ host: SocketAddress.Host, prefix: Int) {
            self.host = host
            self.prefix = prefix
        }
    }

    package let name: String
    package let index: UInt32
    package let isUp: Bool
    package let isLoopback: Bool
    package fileprivate(set) var addresses: [Address]

    package init(name: String, index: UInt32, isUp: Bool, isLoopback: Bool, addresses: [Address]) {
        self.name = name
        self.index = index
        self.isUp = isUp
        self.isLoopback = isLoopback
        self.addresses = addresses
    }

    /// Those that another machine could reach: none of a loopback interface or of one that is down.
    package var usableAddresses: [SocketAddress.Host] {
        if !isUp || isLoopback { return [] }
        return addresses.map(\.host).filter { !$0.isUnspecified && !$0.isLoopback && !$0.isMulticast }
    }

    /// All interfaces, in the order of their indices. Addresses keep the system's order.
    package static func all() throws(SocketFault) -> [NetworkInterface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else {
            return try SocketOptions.interfaces(after: .last).all.map { NetworkInterface($0) }
        }
        defer { unsafe freeifaddrs(first) }

        var found: [String: NetworkInterface] = [:]
        var next = unsafe first
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            guard let interface = unsafe NetworkInterface(entry) else { continue }
            found[interface.name, default: interface].addresses += unsafe [Address(entry)].compactMap { $0 }
        }
        return found.values.sorted { ($0.index, $0.name) < ($1.index, $1.name) }
    }

    package init(_ interface: InterfaceTable.Interface) {
        self.init(
            name: interface.name, index: interface.index, isUp: interface.isUp,
            isLoopback: interface.isLoopback,
            addresses: interface.addresses.map { Address($0.host, prefix: Int($0.prefix)) })
    }

    private init?(_ entry: ifaddrs) {
        guard let label = unsafe entry.ifa_name else { return nil }
        let name = unsafe String(cString: label)
        func has(_ flag: IfFlag) -> Bool { unsafe entry.ifa_flags & flag.rawValue != 0 }
        self.init(
            name: name, index: unsafe if_nametoindex(label), isUp: has(.up) && has(.running),
            isLoopback: has(.loopback),
            addresses: [])
    }
}

/// The flags that `getifaddrs` returns for an interface, as in `net/if.h`.
private enum IfFlag: UInt32 {
    case up = 0x1
    case loopback = 0x8
    case running = 0x40
}

extension NetworkInterface.Address {
    fileprivate init?(_ entry: ifaddrs) {
        guard let address = unsafe entry.ifa_addr, let host = unsafe SocketAddress(address)?.host else {
            return nil
        }
        let mask = unsafe entry.ifa_netmask.flatMap { unsafe SocketAddress($0)?.host.bytes } ?? []
        self.init(host, prefix: mask.reduce(0) { $0 + $1.nonzeroBitCount })
    }

    /// The address that reaches every machine of an IPv4 network.
    package var broadcast: SocketAddress.Host? {
        guard case .v4(let number) = host, prefix < 31 else { return nil }
        return .v4(number | UInt32.max >> UInt32(prefix))
    }
}

extension [NetworkInterface] {
    /// Whether another machine could reach this one.
    var haveUsableAddress: Bool { contains { !$0.usableAddresses.isEmpty } }

    /// Whether this address was taken from the machine, which has others: nothing more arrives at it. Where it has none at the
    /// moment, the address may come back.
    package func haveReplaced(_ host: SocketAddress.Host) -> Bool {
        let host = host.unmapped
        if host.isLoopback || contains(where: { $0.addresses.contains { $0.host.unmapped == host } }) {
            return false
        }
        return haveUsableAddress
    }
}
