import Dispatch
import MultipeerCore
import MultipeerPlatform
import MultipeerTransport

/// Looks up the addresses of a host, as the web client does it.
package struct WebResolver: Sendable {
    /// An address, in bytes and as it is written in a URL.
    package struct Address: Hashable, Sendable {
        package let bytes: [UInt8]
        package let text: String

        package var scope: AddressScope { AddressScope(bytes) }

        package init?(_ text: String) {
            // C would read only what is before it.
            if text.utf8.contains(0) { return nil }
            var (four, six) = (in_addr(), in6_addr())
            if unsafe inet_pton(AF_INET, text, &four) == 1 {
                bytes = unsafe withUnsafeBytes(of: four) { unsafe Array($0) }
                self.text = text
            } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
                bytes = unsafe withUnsafeBytes(of: six) { unsafe Array($0) }
                self.text = "[\(text)]"
            } else {
                return nil
            }
        }
    }

    private let lookUp: @Sendable (_ host: String) async -> [Address]

    package init(_ lookUp: @escaping @Sendable (_ host: String) async -> [Address]) { self.lookUp = lookUp }

    /// Returns the addresses of a host; none when it has none.
    package func addresses(of host: String) async -> [Address] {
        await lookUp(host.inBrackets.map(String.init) ?? host)
    }

    /// Asks the system, on a thread that may block.
    package static let system = WebResolver { host in
        let found = Promise<[Address]>()
        DispatchQueue.global().async { found.send(ofSystem(host)) }
        return await found.value()
    }

    private static func ofSystem(_ host: String) -> [Address] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CLibrary.streamSocket
        var first: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var addresses: [Address] = []
        var next = unsafe first
        while let one = unsafe next {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let isKnown = unsafe getnameinfo(
                one.pointee.ai_addr, one.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            let name = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            // A zone is not part of the address.
            let address = Address(String(decoding: name.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self))
            if isKnown == 0, let address, !addresses.contains(address) { addresses.append(address) }
            unsafe next = one.pointee.ai_next
        }
        return addresses
    }
}
