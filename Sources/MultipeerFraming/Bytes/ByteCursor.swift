public import MultipeerCore

/// A position in bytes from the network: reads big-endian numbers and byte ranges, and refuses to read past
/// the end.
///
/// The only code that reads at an offset that came from the network. It holds a position and not the bytes,
/// because a stored `Span` needs lifetime annotations that are still experimental; the caller therefore
/// passes the bytes with each call, always the same ones.
///
/// Invariant: `0 <= position <= bytes.count`; lengths are compared with the number of bytes left, so no sum
/// can overflow.
@usableFromInline
package struct ByteCursor: Sendable {
    @usableFromInline package internal(set) var position = 0

    @inlinable
    package init() {}

    @inlinable
    package func remaining(in bytes: Span<UInt8>) -> Int { bytes.count - position }

    /// Skips the next `count` bytes and returns their range in `bytes`.
    @inlinable
    package mutating func skip(_ count: Int, in bytes: Span<UInt8>) throws(FramingError) -> Range<Int> {
        guard count >= 0, count <= remaining(in: bytes) else { throw .truncated }
        let start = position
        position = start + count
        return start..<position
    }

    /// Reads a copy of the next `count` bytes.
    @inlinable
    package mutating func array(_ count: Int, in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        [UInt8](copying: bytes.extracting(try skip(count, in: bytes)))
    }

    /// Reads a copy of all remaining bytes.
    @inlinable
    package mutating func rest(in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        try array(remaining(in: bytes), in: bytes)
    }

    /// Reads the next number, most significant byte first.
    @inlinable
    package mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self, in bytes: Span<UInt8>
    ) throws(FramingError) -> Integer {
        let range = try skip(Integer.bitWidth / 8, in: bytes)
        var value: Integer = 0
        for index in range {  // [int.big-endian]
            value = value << 8 | Integer(truncatingIfNeeded: bytes[index])
        }
        return value
    }

    @inlinable
    package mutating func uid(in bytes: Span<UInt8>) throws(FramingError) -> UID {
        UID(high: try integer(in: bytes), low: try integer(in: bytes))
    }

    @inlinable
    package mutating func endpoint(in bytes: Span<UInt8>) throws(FramingError) -> Endpoint {
        Endpoint(uid: try uid(in: bytes), instance: try integer(in: bytes))
    }

    /// Reads a count in one byte, then that many endpoints.
    package mutating func endpoints(in bytes: Span<UInt8>) throws(FramingError) -> [Endpoint] {
        let count = Int(try integer(UInt8.self, in: bytes))
        guard count <= Limits.memberEntries else { throw .tooManyMembers(count) }
        guard count * Endpoint.byteCount <= remaining(in: bytes) else { throw .truncated }
        var endpoints: [Endpoint] = []
        endpoints.reserveCapacity(count)
        for _ in 0..<count { endpoints.append(try endpoint(in: bytes)) }
        return endpoints
    }

    /// Throws unless all bytes have been read.
    @inlinable
    package func finish(in bytes: Span<UInt8>) throws(FramingError) {
        let extra = remaining(in: bytes)
        guard extra == 0 else { throw .trailingBytes(extra) }
    }
}
