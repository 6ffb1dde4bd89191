package import MultipeerPlatform

/// The shapes in which the operating system takes and gives addresses. Nothing else sees them.
extension SocketAddress {
    /// `AF_INET` or `AF_INET6`.
    var family: Int32 { host.isV4 ? AF_INET : AF_INET6 }

    /// Lends the address as a `sockaddr`.
    package func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch host {
        case .v4(let number):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = number.bigEndian
            return unsafe SocketAddress.lend(&address, body)
        case .v6(_, _, let scope):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) { unsafe $0.copyBytes(from: host.bytes) }
            return unsafe SocketAddress.lend(&address, body)
        }
    }

    /// What a call like `accept` or `getsockname` fills in; nil when it fails or is of another family.
    package static func filled(
        by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> (code: Int32, address: SocketAddress?) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let code = unsafe call(address, &length)
                return unsafe (code, code < 0 ? nil : SocketAddress(address))
            }
        }
    }

    /// Returns nil for an address of another family.
    package init?(_ system: UnsafePointer<sockaddr>) {
        unsafe self.init(bytes: UnsafeRawPointer(system))
    }

    /// The same at any alignment.
    package init?(bytes raw: UnsafeRawPointer) {
        switch unsafe Int32(raw.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self.init(
                .v4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = unsafe withUnsafeBytes(of: address.sin6_addr) { unsafe Array($0) }
            guard let host = Host(bytes: bytes, scope: address.sin6_scope_id) else { return nil }
            self.init(host, port: UInt16(bigEndian: address.sin6_port))
        default: return nil
        }
    }

    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
