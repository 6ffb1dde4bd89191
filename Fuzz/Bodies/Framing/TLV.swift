import MultipeerFraming

extension FuzzBody {
    /// The first two bytes choose which types are known and repeatable; the rest is the container.
    package static let tlv = FuzzBody("tlv") { bytes throws(BrokenPromise) in
        var input = InputReader(bytes)
        let known = types(input.byte(), of: [1, 2, 3, 4, 5, 6, 0x0102, 0x8001])
        let repeatable = types(input.byte(), of: known)
        let container = input.rest()
        let expected = Container(container, known: known, repeatable: repeatable)

        var reader = TLVReader(TLVSchema(known: known, repeatable: repeatable))
        var found: [Container.Field] = []
        var refused = false
        do {
            while let field = try reader.next(in: container.span) {
                found.append(Container.Field(type: field.type, value: Array(container[field.value])))
                read(field, in: container.span)
            }
        } catch {
            refused = true
        }
        try promise(refused == !expected.isValid, "a container is refused exactly when it is malformed")
        try promise(
            found == expected.fields.filter { known.contains($0.type) },
            "the known fields up to the first fault come out, in order")

        guard !refused else { return }
        var written = ByteBuffer()
        for field in expected.fields { written.appendField(field.type, field.value) }
        try promise(written.takeAll() == container, "what was read is written to the same bytes")
    }
}

/// Returns those of `candidates` that the bits choose.
private func types(_ bits: UInt8, of candidates: [UInt16]) -> [UInt16] {
    candidates.indices.filter { bits & (1 << UInt8($0)) != 0 }.map { candidates[$0] }
}

/// Reads a value in every way: none may trap, whatever the size.
private func read(_ field: TLVReader.Field, in container: Span<UInt8>) {
    _ = try? field.integer(in: container) as UInt8
    _ = try? field.integer(in: container) as UInt64
    _ = try? field.array(32, in: container)
    _ = try? field.array(1...16, in: container)
    _ = try? field.text(0...63, in: container)
    _ = try? field.uid(in: container)
    _ = try? field.endpoint(in: container)
}

/// A container parsed a second time, by simple code that follows the spec.
private struct Container {
    struct Field: Equatable {
        let type: UInt16
        let value: [UInt8]
    }

    /// The fields up to the first fault.
    private(set) var fields: [Field] = []
    private(set) var isValid = true

    init(_ bytes: [UInt8], known: [UInt16], repeatable: [UInt16]) {
        var rest = bytes[...]
        while isValid, !rest.isEmpty {
            let head = Array(rest.prefix(4)).map(Int.init)
            rest = rest.dropFirst(4)
            isValid = head.count == 4 && head[2] << 8 | head[3] <= rest.count
            guard isValid else { return }
            let field = Field(
                type: UInt16(head[0] << 8 | head[1]), value: Array(rest.prefix(head[2] << 8 | head[3])))
            rest = rest.dropFirst(field.value.count)
            if let last = fields.last?.type {
                isValid = field.type > last || field.type == last && repeatable.contains(last)
            }
            if field.type >= 0x8000, !known.contains(field.type) { isValid = false }
            if isValid { fields.append(field) }
        }
    }
}
