package import MultipeerCore

/// One entry of the mesh's membership database: the peers to which an endpoint has links. Spec 10.
package struct Members: Equatable, Sendable {
    /// The endpoint that the entry describes; not always the end that forwards it.
    package var origin: Endpoint
    /// Increases with each new entry of the same origin.
    package var sequence: UInt32
    package var members: [Endpoint]
    /// Anything else that the entry carries; opaque bytes to this layer.
    package var blob: [UInt8]

    package init(origin: Endpoint, sequence: UInt32, members: [Endpoint], blob: [UInt8] = []) {
        self.origin = origin
        self.sequence = sequence
        self.members = members
        self.blob = blob
    }
}

extension Members {
    init(_ payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        origin = try cursor.endpoint(in: payload)
        sequence = try cursor.integer(in: payload)
        members = try cursor.endpoints(in: payload)
        blob = try cursor.rest(in: payload)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.append(origin)
        buffer.append(sequence)
        buffer.append(members)
        buffer.append(blob)
    }
}
