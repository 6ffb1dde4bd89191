package import MultipeerCore

/// The field types that one kind of container defines. Spec 2.3.
package struct TLVSchema: Sendable {
    package let known: [UInt16]
    /// The types that may occur more than once, in direct succession.
    package let repeatable: [UInt16]

    package init(known: [UInt16], repeatable: [UInt16] = []) {
        self.known = known
        self.repeatable = repeatable
    }

    /// Bit 15 of a type: a receiver that does not know the type must refuse the container.
    package static let criticalBit: UInt16 = 0x8000
}

/// Iterates over a container of fields, `type u16 | length u16 | value` each, and enforces their form.
/// Spec 2.3.
///
/// Only known fields are returned by `next`. As with `ByteCursor`, the caller passes the same bytes with each
/// call.
@usableFromInline
package struct TLVReader: Sendable {
    @usableFromInline
    package struct Field: Equatable, Sendable {
        @usableFromInline package let type: UInt16
        /// The range of the value in the container.
        @usableFromInline package let value: Range<Int>
    }

    private let schema: TLVSchema
    private var cursor = ByteCursor()
    private var last: UInt16?

    package init(_ schema: TLVSchema) { self.schema = schema }

    /// Returns the next known field, or nil at the end of the container.
    package mutating func next(in bytes: Span<UInt8>) throws(FramingError) -> Field? {
        while cursor.remaining(in: bytes) > 0 {
            let field = try any(in: bytes)
            if schema.known.contains(field.type) { return field }
            guard field.type & TLVSchema.criticalBit == 0 else {  // [tlv.critical]
                throw .criticalField(field.type)
            }
            // [tlv.unknown] [tlv.grease]
        }
        return nil
    }

    private mutating func any(in bytes: Span<UInt8>) throws(FramingError) -> Field {
        let type = try cursor.integer(UInt16.self, in: bytes)
        let length = Int(try cursor.integer(UInt16.self, in: bytes))
        guard length <= cursor.remaining(in: bytes) else {  // [tlv.length]
            throw .fieldTooLong(type, length)
        }
        if let last {
            guard type >= last else { throw .fieldOrder(type, after: last) }  // [tlv.order]
            guard type > last || schema.repeatable.contains(type) else {  // [tlv.duplicate]
                throw .repeatedField(type)
            }
        }
        last = type
        return Field(type: type, value: try cursor.skip(length, in: bytes))
    }
}

extension TLVReader.Field {
    /// Reads the value as a number, whose size it must have.
    @inlinable
    package func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        in bytes: Span<UInt8>
    ) throws(FramingError) -> Integer {
        try expect(Integer.bitWidth / 8)
        var cursor = ByteCursor()
        return try cursor.integer(in: bytes.extracting(value))
    }

    /// Reads the value as bytes, of which there must be `count`.
    package func array(_ count: Int, in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        try expect(count)
        return [UInt8](copying: bytes.extracting(value))
    }

    /// Reads the value as bytes, the number of which must lie in `range`.
    package func array(_ range: ClosedRange<Int>, in bytes: Span<UInt8>) throws(FramingError) -> [UInt8] {
        guard range.contains(value.count) else { throw .wrongFieldLength(type, value.count) }
        return [UInt8](copying: bytes.extracting(value))
    }

    /// Reads the value as UTF-8 text, whose length in bytes must lie in `range`.
    package func text(_ range: ClosedRange<Int>, in bytes: Span<UInt8>) throws(FramingError) -> String {
        guard range.contains(value.count) else { throw .wrongFieldLength(type, value.count) }
        return try Text.read(bytes.extracting(value))
    }

    package func uid(in bytes: Span<UInt8>) throws(FramingError) -> UID {
        try expect(UID.byteCount)
        var cursor = ByteCursor()
        return try cursor.uid(in: bytes.extracting(value))
    }

    package func endpoint(in bytes: Span<UInt8>) throws(FramingError) -> Endpoint {
        try expect(Endpoint.byteCount)
        var cursor = ByteCursor()
        return try cursor.endpoint(in: bytes.extracting(value))
    }

    @inlinable
    package func expect(_ count: Int) throws(FramingError) {
        guard value.count == count else { throw .wrongFieldLength(type, value.count) }
    }
}

extension Optional {
    /// Returns the value of a mandatory field, or throws when the field is missing.
    package func required(_ type: UInt16) throws(FramingError) -> Wrapped {
        guard let value = self else { throw .missingField(type) }
        return value
    }
}
