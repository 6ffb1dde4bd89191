package import MultipeerCore

/// One entry of the mesh's membership database: the peers to which an endpoint has links. Spec 11.
package struct Members: Equatable, Sendable {
    /// The endpoint that the entry describes; not always the end that forwards it.
    package var origin: Endpoint
    /// Increases with each new entry of the same origin.
    package var sequence: UInt32
    package var members: [Endpoint]
    /// The endpoint's connection data; opaque bytes to this layer.
    package var blob: [UInt8]
    /// The certificate of the endpoint's key; empty if it has none.
    package var certificate: [UInt8]
    /// Made with that key over `signedBytes`; empty without one.
    package var signature: [UInt8]

    package init(
        origin: Endpoint, sequence: UInt32, members: [Endpoint], blob: [UInt8] = [],
        certificate: [UInt8] = [], signature: [UInt8] = []
    ) {
        self.origin = origin
        self.sequence = sequence
        self.members = members
        self.blob = blob
        self.certificate = certificate
        self.signature = signature
    }
}

extension Members {
    init(_ payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        origin = try cursor.endpoint(in: payload)
        sequence = try cursor.integer(in: payload)
        members = try cursor.endpoints(in: payload)
        blob = try cursor.array(Int(try cursor.integer(UInt16.self, in: payload)), in: payload)
        certificate = try cursor.array(Int(try cursor.integer(UInt16.self, in: payload)), in: payload)
        signature = try cursor.rest(in: payload)
    }

    func encode(into buffer: inout ByteBuffer) {
        encodeUnsigned(into: &buffer)
        buffer.append(signature)
    }

    private func encodeUnsigned(into buffer: inout ByteBuffer) {
        buffer.append(origin)
        buffer.append(sequence)
        buffer.append(members)
        buffer.append(UInt16(clamping: blob.count))
        buffer.append(blob)
        buffer.append(UInt16(clamping: certificate.count))
        buffer.append(certificate)
    }

    /// The bytes that are signed: a label, and all that precedes the signature. Each entry has one encoding, so these are
    /// the bytes that were received. [mesh.signature]
    package var signedBytes: [UInt8] {
        var buffer = ByteBuffer()
        buffer.append(Self.label)
        encodeUnsigned(into: &buffer)
        return buffer.takeAll()
    }

    /// Returns whether the two differ at most in the signature. Of one content there can be many signatures.
    package func saysTheSame(as other: Members) -> Bool {
        var copy = other
        copy.signature = signature
        return self == copy
    }

    /// Of no other signature that the same key makes.
    private static let label = Array("MPC/1 members".utf8) + [0]
}
