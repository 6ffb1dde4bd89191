import CPlatform
package import MultipeerCore
import MultipeerPlatform

/// The interfaces of this machine as `getifaddrs` lists them, looked at from time to time. Linux has it for processes that may not
/// use netlink, too.
///
/// A change is noticed at the next look. Whether an IPv6 address is still being checked for duplicates is not listed: packets from
/// it are lost until that is over.
package final class AddressListMonitor: InterfaceTableMonitor {
    /// The time from one look to the next.
    package static let interval = Duration.seconds(2)

    package private(set) var table = InterfaceTable()
    /// When the interfaces are to be looked at again.
    package private(set) var deadline: Moment?

    /// Nothing to watch: there is a deadline instead.
    package var descriptor: Int32? { nil }

    package init() throws(SocketFault) { table = try look() }

    package func read() -> Bool {
        guard let current = try? look(), current != table else { return false }
        table = current
        return true
    }

    private func look() throws(SocketFault) -> InterfaceTable {
        deadline = EventLoop.currentMoment() + AddressListMonitor.interval
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return try SocketOptions.interfaces(after: .last) }
        defer { unsafe freeifaddrs(first) }

        var table = InterfaceTable()
        var indices: [String: UInt32] = [:]
        var next = unsafe first
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            guard let label = unsafe entry.ifa_name else { continue }
            let name = unsafe String(cString: label)
            if indices[name] == nil, let link = unsafe InterfaceTable.Link(name, entry) {
                indices[name] = link.index
                table.set(link)
            }
            if let index = indices[name], let address = unsafe InterfaceTable.Address(index, entry) {
                table.set(address)
            }
        }
        return table
    }
}

extension InterfaceTable.Link {
    fileprivate init?(_ name: String, _ entry: ifaddrs) {
        let index = unsafe if_nametoindex(name)
        // One that has just gone has no index any longer.
        if index == 0 { return nil }
        let flags = unsafe entry.ifa_flags
        let own = multipeer_portable_multicast_flag()
        let multicast = flags & own == 0 ? 0 : InterfaceTable.Interface.multicastFlag
        self.init(
            index: index, flags: flags & ~(own | InterfaceTable.Interface.multicastFlag) | multicast,
            name: name,
            mtu: unsafe multipeer_portable_mtu(name))
    }
}

extension InterfaceTable.Address {
    fileprivate init?(_ index: UInt32, _ entry: ifaddrs) {
        guard let address = unsafe entry.ifa_addr, let host = unsafe SocketAddress(address)?.host else {
            return nil
        }
        let mask = unsafe entry.ifa_netmask.flatMap { unsafe SocketAddress($0)?.host.bytes } ?? []
        let prefix = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        let isLocal = !host.isV4 && host.isLinkLocal
        self.init(
            index: index, host: isLocal ? host.on(interface: index) : host, prefix: UInt8(clamping: prefix))
    }
}
