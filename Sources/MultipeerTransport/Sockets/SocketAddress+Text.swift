import MultipeerCore
import MultipeerPlatform

extension SocketAddress: LosslessStringConvertible {
    /// Reads `127.0.0.1:80`, `[::1]:80` and `[fe80::1%eth0]:80`; the interface may also be a number.
    public init?(_ text: String) {
        guard let colon = text.lastPosition(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits) else { return nil }
        let name = text[..<colon]
        guard let host = Host(String(name.inBrackets ?? name)), host.isV4 == (name.inBrackets == nil) else {
            return nil
        }
        self.init(host, port: port)
    }

    /// The form that `init` reads.
    public var description: String { host.isV4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
}

extension SocketAddress.Host: LosslessStringConvertible {
    /// Reads `127.0.0.1`, `::1`, `fe80::1%eth0` and `fe80::1%2`.
    public init?(_ text: String) {
        let parts = text.pieces(at: "%", atMost: 2, keepingEmpty: true)
        var bytes = [UInt8](repeating: 0, count: 16)
        if parts.count == 1, unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: Array(bytes.prefix(4)))
        } else if unsafe inet_pton(AF_INET6, String(parts[0]), &bytes) == 1 {
            guard let scope = parts.count == 1 ? 0 : Self.scope(String(parts[1])) else { return nil }
            self.init(bytes: bytes, scope: scope)
        } else {
            return nil
        }
    }

    /// The form that `init` reads.
    public var description: String {
        let bytes = bytes
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(isV4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if case .v6(_, _, let scope) = self, scope != 0 { return "\(address)%\(scope)" }
        return address
    }

    private static func scope(_ name: String) -> UInt32? {
        if let number = UInt32(name), number != 0 { return number }
        let index = unsafe if_nametoindex(name)
        return index == 0 ? nil : index
    }
}
