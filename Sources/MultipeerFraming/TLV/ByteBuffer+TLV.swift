package import MultipeerCore

/// The caller must append fields in the order of their types. Spec 2.3.
extension ByteBuffer {
    /// Appends the header of a field whose value, of `length` bytes, is appended next.
    @inlinable
    package mutating func appendField(_ type: UInt16, length: Int) {
        precondition(length >= 0 && length <= 0xFFFF, "a field's value has at most 65,535 bytes")
        append(type)
        append(UInt16(truncatingIfNeeded: length))
    }

    @inlinable
    package mutating func appendField(_ type: UInt16, _ value: Span<UInt8>) {
        appendField(type, length: value.count)
        append(value)
    }

    package mutating func appendField(_ type: UInt16, _ value: [UInt8]) { appendField(type, value.span) }

    package mutating func appendField(_ type: UInt16, text: String) { appendField(type, Array(text.utf8)) }

    @inlinable
    package mutating func appendField<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: UInt16, _ value: Integer
    ) {
        appendField(type, length: Integer.bitWidth / 8)
        append(value)
    }

    package mutating func append(_ uid: UID) {
        append(uid.high)
        append(uid.low)
    }

    package mutating func append(_ endpoint: Endpoint) {
        append(endpoint.uid)
        append(endpoint.instance)
    }

    /// Appends a count in one byte, then the endpoints.
    package mutating func append(_ endpoints: [Endpoint]) {
        precondition(endpoints.count <= Limits.memberEntries, "more members than a frame may name")
        append(UInt8(truncatingIfNeeded: endpoints.count))
        for endpoint in endpoints { append(endpoint) }
    }
}
