/// The header of every UDP payload: `kind u8 | association u64`, big-endian. Spec 10.
@usableFromInline
package struct DatagramHeader: Hashable, Sendable {
    /// What follows the header.
    @usableFromInline
    package enum Kind: UInt8, CaseIterable, Sendable {
        /// DTLS records: the only kind on an encrypted link.
        case records = 1
        /// The content itself: the only kind on a plain link.
        case plain = 2
    }

    @inlinable package static var byteCount: Int { 9 }

    @usableFromInline package let kind: Kind
    /// The association number that the receiver offered.
    @usableFromInline package let association: UInt64

    @inlinable
    package init(_ kind: Kind, association: UInt64) {
        self.kind = kind
        self.association = association
    }

    /// Reads the header of a UDP payload; returns nil when the payload is too short, too long or of an undefined
    /// kind. The body is what follows the first `byteCount` bytes.
    @inlinable
    package init?(_ datagram: Span<UInt8>) {
        guard datagram.count > DatagramHeader.byteCount,  // [dgram.drop]
            datagram.count <= Limits.datagram,  // [dgram.size]
            let kind = Kind(rawValue: datagram[0])
        else { return nil }
        self.kind = kind
        association = BigEndian.read(datagram.extracting(1..<9))  // [dgram.header]
    }

    @inlinable
    package func encode(into buffer: inout ByteBuffer) {
        buffer.append(kind.rawValue)
        buffer.append(association)
    }
}

/// The header of every content, inside the protection: `kind u8 | sequence u32`, big-endian. Spec 10.
@usableFromInline
package struct ContentHeader: Hashable, Sendable {
    @usableFromInline
    package enum Kind: UInt8, CaseIterable, Sendable {
        case message = 1
        /// Probes the path; 8 bytes.
        case ping = 2
        /// Replies to a ping with the same 8 bytes.
        case pong = 3
    }

    @inlinable package static var byteCount: Int { 5 }

    @usableFromInline package let kind: Kind
    /// The number of the content within its direction, starting at 0.
    @usableFromInline package let sequence: UInt32

    @inlinable
    package init(_ kind: Kind, sequence: UInt32) {
        self.kind = kind
        self.sequence = sequence
    }

    /// Reads the header of a content; returns nil when it is too short, too long for its kind, or of an undefined
    /// kind.
    @inlinable
    package init?(_ content: Span<UInt8>) {
        guard content.count >= ContentHeader.byteCount, let kind = Kind(rawValue: content[0]) else {
            return nil
        }
        let body = content.count &- ContentHeader.byteCount
        // [dgram.message-max]
        guard kind == .message ? body <= Limits.datagramMessage : body == 8 else { return nil }
        self.kind = kind
        sequence = BigEndian.read(content.extracting(1..<5))  // [dgram.header]
    }

    @inlinable
    package func encode(into buffer: inout ByteBuffer) {
        buffer.append(kind.rawValue)
        buffer.append(sequence)
    }
}

/// Reads a number from a span of exactly its size.
@usableFromInline
enum BigEndian {
    @inlinable
    static func read<Integer: FixedWidthInteger & UnsignedInteger>(_ bytes: Span<UInt8>) -> Integer {
        var value: Integer = 0
        for index in bytes.indices {  // [int.big-endian]
            value = value << 8 | Integer(truncatingIfNeeded: bytes[index])
        }
        return value
    }
}
