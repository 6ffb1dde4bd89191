/// How much of a resource its receiver has from an earlier channel. Spec 9.6.
package struct ResumeOffer: Hashable, Sendable {
    /// The number of its first bytes that the receiver has.
    package let offset: UInt64
    /// Their SHA-256.
    package let sha256: [UInt8]

    package init(offset: UInt64, sha256: [UInt8]) {
        self.offset = offset
        self.sha256 = sha256
    }
}

extension ResumeOffer {
    init(_ payload: Span<UInt8>) throws(FramingError) {
        var cursor = ByteCursor()
        offset = try cursor.integer(in: payload)
        sha256 = try cursor.array(ResumeOffer.digestCount, in: payload)
        try cursor.finish(in: payload)
    }

    func encode(into buffer: inout ByteBuffer) {
        precondition(sha256.count == ResumeOffer.digestCount, "a SHA-256 has 32 bytes")
        buffer.append(offset)
        buffer.append(sha256)
    }

    private static let digestCount = 32
}
