import MultipeerFraming

/// Reads a message sequentially: numbers, names with their pointers, and ranges of bytes. As with `ByteCursor`, which
/// does the reading, the caller passes the same bytes with each call.
struct DNSReader {
    private var cursor = ByteCursor()

    var position: Int { cursor.position }

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(
        _ type: Integer.Type = Integer.self, in bytes: Span<UInt8>
    ) throws(DNSFault) -> Integer {
        do { return try cursor.integer(in: bytes) } catch { throw .truncated }  // [dns.form]
    }

    mutating func skip(_ count: Int, in bytes: Span<UInt8>) throws(DNSFault) -> Range<Int> {
        do { return try cursor.skip(count, in: bytes) } catch { throw .truncated }  // [dns.form]
    }

    mutating func array(_ count: Int, in bytes: Span<UInt8>) throws(DNSFault) -> [UInt8] {
        [UInt8](copying: bytes.extracting(try skip(count, in: bytes)))
    }

    /// Reads the next name, following its pointers. The cursor ends after its first pointer, or after its last byte if
    /// there is none.
    ///
    /// Every pointer leads to a position before the labels that it continues, so the walk terminates; the number of
    /// pointers is also limited, so that a name costs no more than its length.
    mutating func name(in bytes: Span<UInt8>) throws(DNSFault) -> DNSName {
        var wire: [UInt8] = []
        var place = self
        var pointers = 0
        while true {
            let segment = place.position
            let pointer = try place.labels(into: &wire, in: bytes)
            if pointers == 0 { self = place }
            guard let pointer else { return DNSName(wire: wire) }
            pointers += 1
            guard pointers <= DNSReader.mostPointers else { throw .tooManyPointers }  // [dns.pointer]
            guard pointer >= DNSMessage.headCount, pointer < segment else {  // [dns.pointer]
                throw .pointer(pointer)
            }
            place = DNSReader()
            _ = try place.skip(pointer, in: bytes)
        }
    }

    /// Appends labels up to the end of the name, or to a pointer, which is returned.
    private mutating func labels(into wire: inout [UInt8], in bytes: Span<UInt8>) throws(DNSFault) -> Int? {
        while true {
            let head = try integer(UInt8.self, in: bytes)
            switch head >> 6 {
            case 0:
                let end = wire.count + 1 + Int(head)
                guard end < DNSName.longest || head == 0 else { throw .nameLength }  // [dns.name]
                wire.append(head)
                if head == 0 { return nil }
                wire += try array(Int(head), in: bytes)
            case 3: return Int(head & 0x3F) << 8 | Int(try integer(UInt8.self, in: bytes))
            default: throw .labelType(head)  // [dns.form]
            }
        }
    }

    private static let mostPointers = 127
}
