/// Reads lists of entries with the checks of 2.3 in their order.
struct EntryReader {
    var bug: Bug?

    func read(_ bytes: [UInt8], known: Set<UInt16>, repeatable: Set<UInt16> = []) throws(ProtocolError)
        -> [TLVEntry]
    {
        var entries: [TLVEntry] = []
        var place = 0
        while place < bytes.count {
            try demand(bytes.count - place >= 4, "half a header of an entry")
            let type = UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
            let count = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            place += 4
            let isInside = bytes.count - place >= count || bug == .tlvLengthUnchecked
            try demand(isInside, "an entry that is longer than its list")
            if let last = entries.last {
                try demand(type >= last.type || bug == .dataIgnoresOrder, "entries that are not in order")
                let isTwice = type == last.type && !repeatable.contains(type)
                try demand(!isTwice || bug == .dataIgnoresDuplicates, "entry \(type) twice")
            }
            if !known.contains(type) {
                try demand(type & 0x8000 == 0 || bug == .dataIgnoresCritical, "the critical entry \(type)")
                try demand(bug != .dataRefusesUnknown, "the unknown entry \(type)")
                try demand(bug != .refusesGrease || type & 0x0f0f != 0x0a0a, "the entry \(type)")
            }
            let end = min(place + count, bytes.count)
            entries.append(TLVEntry(type, Array(bytes[place..<end])))
            place = end
        }
        return entries
    }
}

extension [TLVEntry] {
    /// Returns the value of a required entry, with a size within bounds.
    func demanded(_ type: UInt16, _ name: String, _ sizes: ClosedRange<Int>) throws(ProtocolError) -> [UInt8]
    {
        guard let value = first(type) else { throw .broken("\(name) is missing") }
        try demand(sizes.contains(value.count), "\(name) has \(value.count) bytes")
        return value
    }

    func demanded(_ type: UInt16, _ name: String, _ size: Int) throws(ProtocolError) -> [UInt8] {
        try demanded(type, name, size...size)
    }

    /// Returns the value of an optional entry, with a size within bounds.
    func possible(_ type: UInt16, _ name: String, _ sizes: ClosedRange<Int>) throws(ProtocolError) -> [UInt8]?
    {
        first(type) == nil ? nil : try demanded(type, name, sizes)
    }
}

extension [UInt8] {
    /// These bytes as a number.
    var number: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    var isText: Bool { String(validating: self, as: UTF8.self) != nil }

    /// Whether this is a display name. Spec 3.1.
    var isName: Bool {
        guard (1...63).contains(count), let text = String(validating: self, as: UTF8.self) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0...0x1f, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069: false
            default: true
            }
        }
    }
}
