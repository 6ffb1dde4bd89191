/// The network interfaces of this machine and their addresses, as the system reports them.
package struct InterfaceTable: Hashable, Sendable {
    package struct Interface: Hashable, Sendable {
        package let index: UInt32
        package fileprivate(set) var name = ""
        package fileprivate(set) var flags: UInt32 = 0
        package fileprivate(set) var mtu: UInt32 = 0
        package fileprivate(set) var addresses: [Address] = []
    }

    /// What an interface is, without its addresses.
    package struct Link: Hashable, Sendable {
        package let index: UInt32
        package let flags: UInt32
        package let name: String
        /// 0 when it was not given.
        package let mtu: UInt32

        package init(index: UInt32, flags: UInt32, name: String, mtu: UInt32) {
            (self.index, self.flags, self.name, self.mtu) = (index, flags, name, mtu)
        }
    }

    /// An address of an interface.
    package struct Address: Hashable, Sendable {
        package let index: UInt32
        package let host: SocketAddress.Host
        package let prefix: UInt8
        package let flags: UInt32

        package init(index: UInt32, host: SocketAddress.Host, prefix: UInt8, flags: UInt32 = 0) {
            (self.index, self.host, self.prefix, self.flags) = (index, host, prefix, flags)
        }
    }

    private var interfaces: [UInt32: Interface] = [:]

    package init() {}

    /// In the order of their indices.
    package var all: [Interface] { interfaces.values.sorted { $0.index < $1.index } }

    package mutating func set(_ link: Link) {
        var interface = interfaces[link.index] ?? Interface(index: link.index)
        if !link.name.isEmpty { interface.name = link.name }
        if link.mtu > 0 { interface.mtu = link.mtu }
        interface.flags = link.flags
        interfaces[link.index] = interface
    }

    package mutating func removeLink(_ index: UInt32) { interfaces[index] = nil }

    package mutating func set(_ address: Address) {
        var interface = interfaces[address.index] ?? Interface(index: address.index)
        if let place = interface.place(of: address) {
            interface.addresses[place] = address
        } else {
            interface.addresses.append(address)
        }
        interfaces[address.index] = interface
    }

    package mutating func remove(_ address: Address) {
        guard let place = interfaces[address.index]?.place(of: address) else { return }
        interfaces[address.index]?.addresses.remove(at: place)
    }
}

extension InterfaceTable.Interface {
    /// That of an interface that carries multicast, which has other values on other systems.
    static var multicastFlag: UInt32 { Flag.multicast.rawValue }
    /// Those of an interface that is up, too.
    static var multicastFlags: UInt32 { Flag.up.rawValue | Flag.running.rawValue | Flag.multicast.rawValue }

    /// `net/if.h` of Linux.
    private enum Flag: UInt32 {
        case up = 0x1
        case loopback = 0x8
        case pointToPoint = 0x10
        case running = 0x40
        case multicast = 0x1000
    }

    package var isUp: Bool { isSwitchedOn && has(.running) }
    /// Whether it is administratively up, with or without a carrier.
    package var isSwitchedOn: Bool { has(.up) }
    package var isLoopback: Bool { has(.loopback) }
    package var isPointToPoint: Bool { has(.pointToPoint) }
    /// True also for the loopback interface, which does not have the flag but carries IPv4 multicast.
    package var carriesMulticast: Bool { has(.multicast) || isLoopback }

    /// The addresses that are usable now. On the loopback interface IPv6 multicast is not delivered, and an IPv6 address alone
    /// would mislead.
    package var usableAddresses: [InterfaceTable.Address] {
        addresses.filter { address in
            if address.isTentative || address.host.isUnspecified || address.host.isMulticast { return false }
            return isLoopback ? address.host.isV4 : !address.host.isLoopback
        }
    }

    private func has(_ flag: Flag) -> Bool { flags & flag.rawValue != 0 }

    fileprivate func place(of address: InterfaceTable.Address) -> Int? {
        addresses.firstIndex { $0.host == address.host && $0.prefix == address.prefix }
    }
}

extension InterfaceTable.Address {
    /// Whether another host may have it, too: duplicate address detection is running (`IFA_F_TENTATIVE`) or has failed
    /// (`IFA_F_DADFAILED`). In that state the kernel refuses to send from it, unless it is optimistic.
    package var isTentative: Bool { flags & 0x08 != 0 || flags & 0x44 == 0x40 }
}
