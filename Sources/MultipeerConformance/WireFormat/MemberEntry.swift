/// An endpoint's entry about itself in a mesh: the payload of MEMBERS. Spec 11.4.
struct MemberEntry: Hashable {
    var endpoint: Endpoint
    var sequence: UInt32
    /// The other ends of its mesh links.
    var list: [Endpoint]
    /// Its mesh data.
    var data: [UInt8]
    /// The certificate of its key, and what that key signed; both empty without a key.
    var certificate: [UInt8] = []
    var signature: [UInt8] = []

    var payload: [UInt8] { unsigned + signature }

    /// Everything before the signature.
    private var unsigned: [UInt8] {
        ByteWriter.bytes {
            $0.raw(endpoint.bytes)
            $0.u32(sequence)
            $0.u8(UInt8(truncatingIfNeeded: list.count))
            for other in list { $0.raw(other.bytes) }
            $0.u16(UInt16(truncatingIfNeeded: data.count))
            $0.raw(data)
            $0.u16(UInt16(truncatingIfNeeded: certificate.count))
            $0.raw(certificate)
        }
    }

    /// What the signature covers.
    var signedBytes: [UInt8] { Array("MPC/1 members".utf8) + [0] + unsigned }

    var frame: Frame { Frame(.members, payload) }

    /// The list may be given in any order.
    init(_ endpoint: Endpoint, _ sequence: UInt32, list: [Endpoint], data: [UInt8]) {
        self.endpoint = endpoint
        self.sequence = sequence
        self.list = list.sorted { $0.bytes.precedes($1.bytes) }
        self.data = data
    }

    /// Parses a payload; the content of the list, of the data and of the certificate is not checked.
    init(payload: [UInt8]) throws(Malformed) {
        var reader = ByteReader(payload)
        endpoint = try Endpoint(try reader.raw(24))
        sequence = try reader.u32()
        list = []
        for _ in 0..<Int(try reader.u8()) { list.append(try Endpoint(try reader.raw(24))) }
        data = try reader.raw(Int(try reader.u16()))
        certificate = try reader.raw(Int(try reader.u16()))
        signature = try reader.remaining()
    }

    /// Signs the entry as it is with this identity, and adds its certificate; without one, removes both.
    mutating func sign(with identity: TLSIdentity?) {
        certificate = identity?.leaf ?? []
        signature = identity?.sign(signedBytes) ?? []
    }

    func signed(with identity: TLSIdentity?) -> MemberEntry {
        var copy = self
        copy.sign(with: identity)
        return copy
    }
}
