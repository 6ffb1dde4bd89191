import MultipeerPlatform

/// The interfaces of the machine.
enum NetworkInterfaces {
    /// The indices of those that are up, without loopback, in ascending order.
    static var up: [UInt32] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return [] }
        defer { unsafe freeifaddrs(first) }
        var found: Set<UInt32> = []
        var next = unsafe first
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            // IFF_UP without IFF_LOOPBACK, as in `net/if.h`.
            guard unsafe entry.ifa_flags & 0x9 == 0x1, let name = unsafe entry.ifa_name else { continue }
            found.insert(unsafe if_nametoindex(name))
        }
        return found.subtracting([0]).sorted()
    }
}
