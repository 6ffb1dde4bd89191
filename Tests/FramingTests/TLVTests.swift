import MultipeerFraming
import TestSupport
import Testing

@Suite("2.3 Fields", .computing)
struct TLVTests {
    static let schema = TLVSchema(known: [1, 2, 3, 0x8004], repeatable: [2])

    /// The known fields in `bytes`, by type.
    static func fields(_ bytes: [UInt8]) throws(FramingError) -> [UInt16: [[UInt8]]] {
        var reader = TLVReader(schema)
        var fields: [UInt16: [[UInt8]]] = [:]
        while let field = try reader.next(in: bytes.span) {
            fields[field.type, default: []].append(Array(bytes[field.value]))
        }
        return fields
    }

    static func fault(_ bytes: [UInt8]) -> FramingError? {
        do throws(FramingError) {
            _ = try fields(bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("type and length are big-endian, the value follows [int.big-endian]")
    func form() throws {
        #expect(try TLVTests.fields([0, 1, 0, 2, 7, 8, 0, 3, 0, 0]) == [1: [[7, 8]], 3: [[]]])
        #expect(try TLVTests.fields([]) == [:])
        #expect(try TLVTests.fields([0x80, 4, 0, 1, 9]) == [0x8004: [[9]]])
        let long = [UInt8](repeating: 1, count: 0x0102)
        #expect(try TLVTests.fields([0, 1, 1, 2] + long) == [1: [long]])
        var buffer = ByteBuffer()
        buffer.appendField(1, long)
        #expect(buffer.takeAll() == [0, 1, 1, 2] + long)
    }

    @Test("types ascend, including unknown ones [tlv.order]")
    func order() {
        #expect(TLVTests.fault([0, 2, 0, 0, 0, 1, 0, 0]) == .fieldOrder(1, after: 2))
        #expect(TLVTests.fault([0, 9, 0, 0, 0, 3, 0, 0]) == .fieldOrder(3, after: 9))
        #expect(TLVTests.fault([0, 3, 0, 0, 0x0A, 0x0A, 0, 0, 0, 9, 0, 0]) == .fieldOrder(9, after: 0x0A0A))
    }

    @Test("a type comes once unless it is declared repeatable [tlv.duplicate]")
    func duplicates() throws {
        #expect(TLVTests.fault([0, 1, 0, 0, 0, 1, 0, 0]) == .repeatedField(1))
        #expect(TLVTests.fault([0, 9, 0, 0, 0, 9, 0, 0]) == .repeatedField(9))
        #expect(try TLVTests.fields([0, 2, 0, 1, 5, 0, 2, 0, 1, 6]) == [2: [[5], [6]]])
        #expect(TLVTests.fault([0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0]) == .fieldOrder(2, after: 3))
    }

    @Test("a value ends inside its container [tlv.length]")
    func lengths() {
        #expect(TLVTests.fault([0, 1, 0, 1]) == .fieldTooLong(1, 1))
        #expect(TLVTests.fault([0, 1, 0xFF, 0xFF, 0]) == .fieldTooLong(1, 0xFFFF))
        for count in 1...3 { #expect(TLVTests.fault([UInt8](repeating: 0, count: count)) == .truncated) }
        #expect(TLVTests.fault([0, 1, 0, 0, 0]) == .truncated)
    }

    @Test("an unknown type is ignored, whatever its value [tlv.unknown]")
    func unknown() throws {
        #expect(try TLVTests.fields([0, 0, 0, 1, 9, 0, 1, 0, 0, 0x7F, 0xFF, 0, 0]) == [1: [[]]])
    }

    @Test("an unknown type with bit 15 is refused [tlv.critical]")
    func critical() {
        #expect(TLVTests.fault([0x80, 0, 0, 0]) == .criticalField(0x8000))
        #expect(TLVTests.fault([0, 1, 0, 0, 0xFF, 0xFF, 0, 1, 1]) == .criticalField(0xFFFF))
    }

    @Test(
        "every truncated container is refused or ends between two fields [tlv.length]",
        arguments: UInt64(0)..<50)
    func cuts(seed: UInt64) {
        var random = Seeded(seed)
        var buffer = ByteBuffer()
        var ends: Set<Int> = [0]
        for type in UInt16(1)...6 {
            buffer.appendField(type, random.bytes(Int.random(in: 0...9, using: &random)))
            ends.insert(buffer.count)
        }
        let bytes = buffer.takeAll()
        for cut in 0...bytes.count {
            #expect((TLVTests.fault(Array(bytes.prefix(cut))) == nil) == ends.contains(cut))
        }
    }
}

@Suite("17 Grease", .computing)
struct GreaseTests {
    @Test("field types are 0x0A0A to 0x7A7A, never critical [tlv.grease] [ext.grease]")
    func types() {
        let types = Set((UInt64(0)..<64).map(Grease.fieldType))
        #expect(types == [0x0A0A, 0x1A1A, 0x2A2A, 0x3A3A, 0x4A4A, 0x5A5A, 0x6A6A, 0x7A7A])
    }

    @Test("versions are 0x?A?A and differ from real ones [ext.grease]")
    func versions() {
        let versions = Set((UInt64(0)..<64).map(Grease.version))
        #expect(versions.count == 16)
        #expect((UInt16.min ... .max).filter(Grease.contains) == versions.sorted())
    }

    @Test("frame kinds are 0x8A to 0xFA [frame.grease]")
    func kinds() {
        let kinds = Set((UInt64(0)..<64).map { Grease.frameKind($0).rawValue })
        #expect(kinds == [0x8A, 0x9A, 0xAA, 0xBA, 0xCA, 0xDA, 0xEA, 0xFA])
    }
}
