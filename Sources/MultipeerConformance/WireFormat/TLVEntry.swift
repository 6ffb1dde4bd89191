/// One entry of a list, a TLV. Spec 2.3.
struct TLVEntry: Hashable {
    var type: UInt16
    var value: [UInt8]

    init(_ type: UInt16, _ value: [UInt8]) {
        self.type = type
        self.value = value
    }

    init(_ type: UInt16, _ body: (inout ByteWriter) -> Void) { self.init(type, ByteWriter.bytes(body)) }

    var bytes: [UInt8] {
        ByteWriter.bytes {
            $0.u16(type)
            $0.u16(UInt16(truncatingIfNeeded: value.count))
            $0.raw(value)
        }
    }
}

extension [TLVEntry] {
    /// The entries one after the other, in their present order.
    var bytes: [UInt8] { flatMap(\.bytes) }

    /// The entries in ascending order of type; those of one type keep their order.
    var sorted: [TLVEntry] {
        enumerated().sorted { ($0.element.type, $0.offset) < ($1.element.type, $1.offset) }.map(\.element)
    }

    func first(_ type: UInt16) -> [UInt8]? { first { $0.type == type }?.value }
    func all(_ type: UInt16) -> [[UInt8]] { filter { $0.type == type }.map(\.value) }
    func without(_ type: UInt16) -> [TLVEntry] { filter { $0.type != type } }

    /// Returns the entries with this one in the place of those of its type, in ascending order.
    func with(_ type: UInt16, _ value: [UInt8]) -> [TLVEntry] {
        (without(type) + [TLVEntry(type, value)]).sorted
    }

    /// Reads a list that fills its container, with the checks of 2.3 in their order.
    ///
    /// * `known`: the types that the list may have, whether bit 15 is set or not.
    /// * `repeatable`: those that may occur more than once.
    static func read(
        _ bytes: [UInt8], known: Set<UInt16>, repeatable: Set<UInt16> = []
    ) throws(Malformed) -> [TLVEntry] {
        var reader = ByteReader(bytes)
        var entries: [TLVEntry] = []
        while !reader.isAtEnd {
            let type = try reader.u16()
            let entry = TLVEntry(type, try reader.raw(Int(try reader.u16())))
            if let last = entries.last?.type {
                guard type >= last else { throw Malformed("entry \(type) after entry \(last)") }
                guard type > last || repeatable.contains(type) else {
                    throw Malformed("entry \(type) occurs twice")
                }
            }
            guard known.contains(type) || type & 0x8000 == 0 else {
                throw Malformed("entry \(type) is critical and unknown")
            }
            entries.append(entry)
        }
        return entries
    }

    /// Returns the value of a required entry.
    func required(_ type: UInt16, _ name: String) throws(Malformed) -> [UInt8] {
        guard let value = first(type) else { throw Malformed("\(name) is missing") }
        return value
    }

    /// Returns the value of a required entry, which must have that many bytes.
    func required(_ type: UInt16, _ name: String, _ count: Int) throws(Malformed) -> [UInt8] {
        let value = try required(type, name)
        guard value.count == count else { throw Malformed("\(name) has \(value.count) bytes, not \(count)") }
        return value
    }
}
