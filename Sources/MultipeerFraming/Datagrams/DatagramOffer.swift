/// Where and how the sender receives datagrams. Spec 9.
package struct DatagramOffer: Equatable, Sendable {
    /// The association number that every datagram carries.
    package var association: UInt64
    package var port: UInt16
    package var flags: UInt8

    package init(association: UInt64, port: UInt16, flags: UInt8 = 0) {
        self.association = association
        self.port = port
        self.flags = flags
    }

    /// Wants no datagrams. [dgram.offer]
    package static let withdrawn = DatagramOffer(association: 0, port: 0)
}

extension DatagramOffer {
    init(_ payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        association = try cursor.integer(in: payload)
        port = try cursor.integer(in: payload)
        flags = try cursor.integer(in: payload)
        try cursor.finish(in: payload)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.append(association)
        buffer.append(port)
        buffer.append(flags)
    }
}
