/// Writes bytes: every number with its most significant byte first. Spec 2.2.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func u8(_ value: UInt8) { bytes.append(value) }
    mutating func u16(_ value: UInt16) { number(UInt64(value), 2) }
    mutating func u24(_ value: Int) { number(UInt64(value), 3) }
    mutating func u32(_ value: UInt32) { number(UInt64(value), 4) }
    mutating func u64(_ value: UInt64) { number(value, 8) }
    mutating func raw(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    private mutating func number(_ value: UInt64, _ count: Int) {
        for place in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
    }

    /// Returns the bytes that `body` writes.
    static func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
        var writer = ByteWriter()
        body(&writer)
        return writer.bytes
    }
}

/// Bytes that the specification does not allow.
struct Malformed: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Reads bytes.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var rest: Int { bytes.count - position }
    var isAtEnd: Bool { rest == 0 }

    mutating func raw(_ count: Int) throws(Malformed) -> [UInt8] {
        guard count >= 0, count <= rest else { throw Malformed("\(count) bytes expected, \(rest) are left") }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func u8() throws(Malformed) -> UInt8 { UInt8(try number(1)) }
    mutating func u16() throws(Malformed) -> UInt16 { UInt16(try number(2)) }
    mutating func u24() throws(Malformed) -> Int { Int(try number(3)) }
    mutating func u32() throws(Malformed) -> UInt32 { UInt32(try number(4)) }
    mutating func u64() throws(Malformed) -> UInt64 { try number(8) }
    mutating func remaining() throws(Malformed) -> [UInt8] { try raw(rest) }

    private mutating func number(_ count: Int) throws(Malformed) -> UInt64 {
        try raw(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func end(of what: String) throws(Malformed) {
        guard isAtEnd else { throw Malformed("\(rest) bytes are left after \(what)") }
    }
}

extension [UInt8] {
    /// Pairs of lower-case hexadecimal digits.
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns nil for anything but pairs of hexadecimal digits.
    init?(hex: String) {
        let digits = hex.utf8.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 ? $0 - 48 : ($0 | 32) &- 87 }
        guard digits.count % 2 == 0, digits.allSatisfy({ $0 < 16 }) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// Returns the agreed content for the shim: byte i is i mod 251.
    static func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
        let period = (0..<251).map { UInt8(($0 + start) % 251) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + period.count)
        while bytes.count < count { bytes += period }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Returns whether these bytes come before the others, in the order of uids.
    func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
