/// The data of a record as `dns_sd.h` passes it: without compression, and from any host on the network.
enum SystemRecordData {
    /// The longest data that is kept: a TXT record of this protocol is the longest.
    static let longest = Binding.longestTXT

    /// Returns where an SRV record points; nil when it is malformed, says that there is no such service, or names a host outside
    /// `.local`, for which the responder would ask a server of the Internet. [mdns.scope]
    static func server(_ data: [UInt8]) -> (host: DNSName, port: UInt16)? {
        var reader = DNSReader()
        let bytes = data.span
        do throws(DNSFault) {
            _ = try reader.skip(4, in: bytes)
            let port = try reader.integer(UInt16.self, in: bytes)
            let host = try reader.name(in: bytes)
            let labels = host.labels
            let isLocal =
                labels.count > 1 && String(decoding: labels.last ?? [], as: UTF8.self).lowercased() == "local"
            return reader.position == data.count && isLocal ? (host, port) : nil  // [dns.form]
        } catch {
            return nil
        }
    }

    /// Returns whether data of this type may be of use.
    static func isValid(_ data: [UInt8], of type: DNSType) -> Bool {
        switch type {
        case .a: data.count == 4
        case .aaaa: data.count == 16
        case .srv: server(data) != nil
        case .txt: data.count <= longest
        default: false
        }
    }
}

extension DNSName {
    /// The name as calls of `dns_sd.h` take it: with a dot at its end, and with every byte but letters, digits, `-` and `_` as
    /// `\ddd`, so that no byte of a label has a meaning. RFC 1035, 5.1.
    package var escaped: String {
        labels.map { $0.map(DNSName.escaped).joined() + "." }.joined()
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            String(UnicodeScalar(byte))
        default: "\\" + [byte / 100, byte / 10 % 10, byte % 10].map { "\($0)" }.joined()
        }
    }
}
