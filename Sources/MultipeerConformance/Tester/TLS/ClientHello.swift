/// The first message of a TLS client. RFC 8446, 4.1.2; only the parts that the specification covers.
struct ClientHello {
    /// Cipher suites.
    let suites: [UInt16]
    /// Extensions in their order.
    let extensions: [(type: UInt16, data: [UInt8])]

    /// Reads the first record of a connection.
    init(_ record: [UInt8]) throws(Malformed) {
        var reader = ByteReader(record)
        guard try reader.u8() == 22 else { throw Malformed("the first record is not a handshake") }
        _ = try reader.u16()
        var handshake = ByteReader(try reader.raw(Int(try reader.u16())))
        guard try handshake.u8() == 1 else { throw Malformed("the first message is not a ClientHello") }
        var hello = ByteReader(try handshake.raw(try handshake.u24()))
        _ = try hello.raw(34)
        _ = try hello.raw(Int(try hello.u8()))
        var list = ByteReader(try hello.raw(Int(try hello.u16())))
        var suites: [UInt16] = []
        while !list.isAtEnd { suites.append(try list.u16()) }
        self.suites = suites
        _ = try hello.raw(Int(try hello.u8()))
        var all = ByteReader(try hello.raw(Int(try hello.u16())))
        var extensions: [(UInt16, [UInt8])] = []
        while !all.isAtEnd { extensions.append((try all.u16(), try all.raw(Int(try all.u16())))) }
        self.extensions = extensions
    }

    func data(_ type: UInt16) -> [UInt8]? { extensions.first { $0.type == type }?.data }

    /// The names of ALPN.
    var protocols: [String] {
        var names: [String] = []
        var rest = (data(16) ?? []).dropFirst(2)
        while let count = rest.popFirst() {
            names.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
            rest = rest.dropFirst(Int(count))
        }
        return names
    }

    /// Versions that are offered, GREASE left out.
    var versions: [UInt16] { numbers(in: (data(43) ?? []).dropFirst(1)) }
    /// Groups that are offered, GREASE left out.
    var groups: [UInt16] { numbers(in: (data(10) ?? []).dropFirst(2)) }

    var hasServerName: Bool { data(0) != nil }
    /// Whether it resumes: a pre-shared key, or early data.
    var resumes: Bool { data(41) != nil || data(42) != nil }

    private func numbers(in bytes: ArraySlice<UInt8>) -> [UInt16] {
        let list = Array(bytes)
        return stride(from: 0, to: list.count - 1, by: 2).map { UInt16(list[$0]) << 8 | UInt16(list[$0 + 1]) }
            .filter { $0 & 0x0f0f != 0x0a0a || $0 >> 8 != $0 & 0xff }
    }
}
