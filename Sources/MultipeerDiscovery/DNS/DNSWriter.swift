/// Writes a message, and remembers the positions of names that later ones can point to.
struct DNSWriter {
    private(set) var bytes: [UInt8] = []
    private let isCompressing: Bool
    private let isLegacy: Bool
    /// The position at which each name, also as the suffix of another, was first written.
    private var places: [ArraySlice<UInt8>: UInt16] = [:]

    init(isCompressing: Bool, isLegacy: Bool) {
        self.isCompressing = isCompressing
        self.isLegacy = isLegacy
    }

    mutating func append<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer) {
        for shift in stride(from: Integer.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Integer(shift)))
        }
    }

    mutating func append(_ question: DNSQuestion) {
        append(question.name)
        append(question.type.rawValue)
        append(UInt16(question.wantsUnicast ? 0x8001 : 1))
    }

    mutating func append(_ record: DNSRecord) throws(DNSFault) {
        append(record.name)
        append(record.type.rawValue)
        append(UInt16(record.isCacheFlush ? 0x8001 : 1))
        append(record.ttl)
        let place = bytes.count
        append(UInt16(0))
        try append(record.data)
        let count = UInt16(truncatingIfNeeded: bytes.count - place - 2)
        bytes[place] = UInt8(count >> 8)
        bytes[place + 1] = UInt8(count & 0xFF)
    }

    mutating func append(_ data: DNSData) throws(DNSFault) {
        switch data {
        case .a(let address):
            guard address.count == 4 else { throw .data(.a) }
            bytes += address
        case .aaaa(let address):
            guard address.count == 16 else { throw .data(.aaaa) }
            bytes += address
        case .ptr(let name): append(name)
        case .srv(let priority, let weight, let port, let target):
            append(priority)
            append(weight)
            append(port)
            append(target, isNewer: true)  // [mdns.legacy]
        case .txt(let strings): bytes += strings.isEmpty ? [0] : strings
        case .nsec(let next, let types):
            append(next, isNewer: true)  // [mdns.legacy]
            let last = types.max() ?? 0
            guard last < 256 else { throw .data(.nsec) }
            var bits = [UInt8](repeating: 0, count: Int(last) / 8 + 1)
            for type in types { bits[Int(type) / 8] |= 0x80 >> UInt8(type % 8) }
            bytes += [0, UInt8(truncatingIfNeeded: bits.count)] + bits
        case .other(_, let data): bytes += data
        }
    }

    /// Appends a name. `isNewer` names are within data of types that conventional parsers do not decompress.
    private mutating func append(_ name: DNSName, isNewer: Bool = false) {
        guard isCompressing, !(isNewer && isLegacy) else {
            bytes += name.wire
            return
        }
        var rest = name.wire[...]
        while let head = rest.first, head > 0 {
            if let place = places[rest] {
                append(0xC000 | place)
                return
            }
            if bytes.count < 0x4000 { places[rest] = UInt16(bytes.count) }
            let label = rest.prefix(1 + Int(head))
            bytes += label
            rest = rest.dropFirst(label.count)
        }
        bytes.append(0)
    }
}
