import MultipeerFraming
import TestSupport
import Testing

struct FieldList: VectorBody {
    static let type = "tlv"
    let known: [UInt16]
    let repeatable: [UInt16]
    let hex: Hex
    let entries: [Entry]?

    struct Entry: Decodable, Equatable {
        let type: UInt16
        let hex: Hex
    }
}

@Suite("2.3 Vectors of field lists", .computing)
struct FieldListTests {
    @Test(
        "known entries are returned, in order; a list that violates a rule is refused by that rule [tlv.order] [tlv.duplicate]",
        arguments: try VectorFiles.all(FieldList.self))
    func list(_ vector: Vector<FieldList>) {
        let bytes = vector.body.hex.bytes
        var reader = TLVReader(TLVSchema(known: vector.body.known, repeatable: vector.body.repeatable))
        var entries: [FieldList.Entry] = []
        var fault: Fault?
        do throws(FramingError) {
            while let field = try reader.next(in: bytes.span) {
                entries.append(.init(type: field.type, hex: Hex(Array(bytes[field.value]))))
            }
        } catch {
            fault = Fault(check(error), error.closeCode.name)
        }
        #expect(fault == vector.fault)
        if let expected = vector.body.entries { #expect(entries == expected) }
    }

    private func check(_ error: FramingError) -> String {
        switch error {
        case .fieldOrder: "order"
        case .repeatedField: "duplicate"
        case .fieldTooLong, .truncated: "length"
        case .criticalField: "critical"
        default: "\(error)"
        }
    }
}
