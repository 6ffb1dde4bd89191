public import MultipeerCore

/// A place in bytes from the network: reads big-endian numbers and runs of bytes, and refuses to go past the
/// end.
///
/// The only code that reads at an offset that came from the network. It holds a position and not the bytes,
/// because a stored `Span` needs lifetime annotations that the language still calls experimental; so the
/// bytes come with each call, and must be the same in all of them.
///
/// Invariant: `0 <= position <= bytes.count`; lengths are compared with what is left, so no sum can overflow.
@usableFromInline
package struct ByteCursor: Sendable {
    @usableFromInline package internal(set) var position = 0

    @inlinable
    package init() {}

    @inlinable
    package func remaining(in bytes: Span<UInt8>) -> Int { bytes.count - position }

    /// The next `count` bytes, as the range they have in `bytes`.
    @inlinable
    package mutating func skip(_ count: Int, in bytes: Span<UInt8>) throws(FramingError) -> Range<Int> {
        guard count >= 0, count <= remaining(in: bytes) else { throw .truncated }
        let start = position
        position = start + count
        return start..<position
    }

    /// The next `count` bytes, copied.
    @inlinable
    package mutating func array(_ count: Int, in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        [UInt8](copying: bytes.extracting(try skip(count, in: bytes)))
    }

    /// Everything that is left, copied.
    @inlinable
    package mutating func rest(in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        try array(remaining(in: bytes), in: bytes)
    }

    /// The next number, most significant byte first.
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

    /// A count in one byte, then so many endpoints.
    package mutating func endpoints(in bytes: Span<UInt8>) throws(FramingError) -> [Endpoint] {
        let count = Int(try integer(UInt8.self, in: bytes))
        guard count <= Limits.memberEntries else { throw .tooManyMembers(count) }
        guard count * Endpoint.byteCount <= remaining(in: bytes) else { throw .truncated }
        var endpoints: [Endpoint] = []
        endpoints.reserveCapacity(count)
        for _ in 0..<count { endpoints.append(try endpoint(in: bytes)) }
        return endpoints
    }

    /// Says that nothing may follow.
    @inlinable
    package func finish(in bytes: Span<UInt8>) throws(FramingError) {
        let extra = remaining(in: bytes)
        guard extra == 0 else { throw .trailingBytes(extra) }
    }
}
