/// An endpoint's entry about itself in a mesh: the payload of MEMBERS. Spec 11.4.
struct MemberEntry: Hashable {
    var endpoint: Endpoint
    var sequence: UInt32
    /// The other ends of its mesh links.
    var list: [Endpoint]
    /// Its mesh data.
    var data: [UInt8]

    var payload: [UInt8] {
        ByteWriter.bytes {
            $0.raw(endpoint.bytes)
            $0.u32(sequence)
            $0.u8(UInt8(truncatingIfNeeded: list.count))
            for other in list { $0.raw(other.bytes) }
            $0.raw(data)
        }
    }

    var frame: Frame { Frame(.members, payload) }

    /// The list may be given in any order.
    init(_ endpoint: Endpoint, _ sequence: UInt32, list: [Endpoint], data: [UInt8]) {
        self.endpoint = endpoint
        self.sequence = sequence
        self.list = list.sorted { $0.bytes.precedes($1.bytes) }
        self.data = data
    }

    /// Parses a payload; the content of the list and of the data is not checked.
    init(payload: [UInt8]) throws(Malformed) {
        var reader = ByteReader(payload)
        endpoint = try Endpoint(try reader.raw(24))
        sequence = try reader.u32()
        list = []
        for _ in 0..<Int(try reader.u8()) { list.append(try Endpoint(try reader.raw(24))) }
        data = try reader.remaining()
    }
}
