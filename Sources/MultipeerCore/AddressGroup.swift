/// Addresses that count as one wherever connections are counted by address: an IPv4 address, or all IPv6 addresses with the
/// same first 64 bits, since a host may have as many of these as it likes. Spec 15. [limit.prefix]
package struct AddressGroup: Hashable, Sendable {
    private let prefix: [UInt8]

    /// Creates the group of an address of 4 or 16 bytes. An IPv4-mapped address has to be passed as IPv4.
    package init(_ address: [UInt8]) { prefix = address.count == 16 ? Array(address.prefix(8)) : address }
}

extension AddressGroup: Comparable {
    /// An order for ties, which are then decided alike in every run.
    package static func < (one: AddressGroup, other: AddressGroup) -> Bool {
        one.prefix.lexicographicallyPrecedes(other.prefix)
    }
}
