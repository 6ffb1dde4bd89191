import MultipeerPlatform

extension [UInt8] {
    /// An address of IPv4 or IPv6 as text.
    var addressText: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(count == 4 ? AF_INET : AF_INET6, self, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Reads an address of either family; nil if the text is none.
    init?(addressText text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self = Array(bytes.prefix(4))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self = bytes
        } else {
            return nil
        }
    }
}

extension Candidate: CustomStringConvertible {
    var description: String {
        let scope = zone == 0 ? "" : "%\(zone)"
        return address.count == 4
            ? "\(address.addressText):\(port)" : "[\(address.addressText)\(scope)]:\(port)"
    }

    /// Reads `127.0.0.1:80`, `[::1]:80` and `[fe80::1%eth0]:80`.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        if isBracketed { host = String(host.dropFirst().dropLast()) }
        let parts = host.split(separator: "%", maxSplits: 1).map(String.init)
        guard let name = parts.first, let address = [UInt8](addressText: name),
            (address.count == 16) == isBracketed
        else { return nil }
        var zone: UInt32 = 0
        if parts.count == 2 {
            zone = unsafe UInt32(parts[1]) ?? if_nametoindex(parts[1])
            guard zone != 0, isBracketed else { return nil }
        }
        self.init(address: address, port: port, zone: zone)
    }
}
