/// What is sent by UDP. Spec 10.
enum Datagram {
    static let dtls: UInt8 = 1, plain: UInt8 = 2
    static let headerCount = 9
    static let longest = 1_200
    static let longestMessage = 1_150

    /// Returns one UDP payload.
    static func packet(_ kind: UInt8, _ association: [UInt8], _ body: [UInt8]) -> [UInt8] {
        [kind] + association + body
    }
}

/// One content. Spec 10.5.
struct Content: Equatable {
    enum Tag { static let message: UInt8 = 1, ping: UInt8 = 2, pong: UInt8 = 3 }

    var kind: UInt8
    var sequence: UInt32
    var body: [UInt8]

    var bytes: [UInt8] {
        ByteWriter.bytes {
            $0.u8(kind)
            $0.u32(sequence)
            $0.raw(body)
        }
    }

    init(_ kind: UInt8, _ sequence: UInt32, _ body: [UInt8]) {
        (self.kind, self.sequence, self.body) = (kind, sequence, body)
    }

    init(_ bytes: [UInt8]) throws(Malformed) {
        var reader = ByteReader(bytes)
        kind = try reader.u8()
        sequence = try reader.u32()
        body = try reader.remaining()
        switch kind {
        case Tag.message:
            guard body.count <= Datagram.longestMessage else {
                throw Malformed("a message of \(body.count) bytes")
            }
        case Tag.ping, Tag.pong:
            guard body.count == 8 else { throw Malformed("a ping of \(body.count) bytes") }
        default: throw Malformed("content of kind \(kind)")
        }
    }
}

/// DGRAM: what its sender wants to receive. Spec 10.2.
struct DatagramOffer {
    let association: [UInt8]
    let port: UInt16

    init(association: [UInt8], port: UInt16) { (self.association, self.port) = (association, port) }

    init(_ frame: Frame) throws(Malformed) {
        var reader = ByteReader(frame.payload)
        association = try reader.raw(8)
        port = try reader.u16()
        _ = try reader.u8()
        try reader.end(of: "DGRAM")
    }

    var frame: Frame {
        Frame(.datagrams) {
            $0.raw(association)
            $0.u16(port)
            $0.u8(0)
        }
    }
}
