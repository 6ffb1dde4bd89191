/// The network interfaces of this machine and their addresses, according to the kernel's messages.
package struct InterfaceTable: Hashable, Sendable {
    package struct Interface: Hashable, Sendable {
        package let index: UInt32
        package fileprivate(set) var name = ""
        package fileprivate(set) var flags: UInt32 = 0
        package fileprivate(set) var mtu: UInt32 = 0
        package fileprivate(set) var addresses: [NetlinkMessage.Address] = []
    }

    private var interfaces: [UInt32: Interface] = [:]

    package init() {}

    /// In the order of their indices.
    package var all: [Interface] { interfaces.values.sorted { $0.index < $1.index } }

    package mutating func apply(_ message: NetlinkMessage) {
        switch message {
        case .link(let link):
            var interface = interfaces[link.index] ?? Interface(index: link.index)
            if !link.name.isEmpty { interface.name = link.name }
            if link.mtu > 0 { interface.mtu = link.mtu }
            interface.flags = link.flags
            interfaces[link.index] = interface
        case .linkGone(let index): interfaces[index] = nil
        case .address(let address):
            var interface = interfaces[address.index] ?? Interface(index: address.index)
            if let place = interface.place(of: address) {
                interface.addresses[place] = address
            } else {
                interface.addresses.append(address)
            }
            interfaces[address.index] = interface
        case .addressGone(let address):
            guard let place = interfaces[address.index]?.place(of: address) else { return }
            interfaces[address.index]?.addresses.remove(at: place)
        case .done, .failed: break
        }
    }
}

extension InterfaceTable.Interface {
    /// `net/if.h`.
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
    package var usableAddresses: [NetlinkMessage.Address] {
        addresses.filter { address in
            if address.isTentative || address.host.isUnspecified || address.host.isMulticast { return false }
            return isLoopback ? address.host.isV4 : !address.host.isLoopback
        }
    }

    private func has(_ flag: Flag) -> Bool { flags & flag.rawValue != 0 }

    fileprivate func place(of address: NetlinkMessage.Address) -> Int? {
        addresses.firstIndex { $0.host == address.host && $0.prefix == address.prefix }
    }
}

extension NetlinkMessage.Address {
    /// Whether another host may have it, too: duplicate address detection is running (`IFA_F_TENTATIVE`) or has failed
    /// (`IFA_F_DADFAILED`). In that state the kernel refuses to send from it, unless it is optimistic.
    package var isTentative: Bool { flags & 0x08 != 0 || flags & 0x44 == 0x40 }
}
