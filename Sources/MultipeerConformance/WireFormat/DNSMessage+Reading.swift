/// Reads messages with the checks of 12.3; `bug` leaves one out.
extension DNSMessage {
    init(_ bytes: [UInt8], bug: Bug? = nil) throws(Malformed) {
        guard bytes.count <= 9_000 || bug == .dnsAnySize else { throw Malformed("\(bytes.count) bytes") }
        var reader = DNSReader(bytes, bug)
        id = try reader.u16()
        flags = try reader.u16()
        guard flags & 0x780f == 0 || bug == .dnsAnyForm else { throw Malformed("flags \(flags)") }
        var counts: [Int] = []
        for _ in 0..<4 { counts.append(Int(try reader.u16())) }
        guard counts.reduce(0, +) <= 512 || bug == .dnsAnySize else {
            throw Malformed("too many questions and records")
        }
        for _ in 0..<counts[0] {
            questions.append(
                Question(name: try reader.name(), type: try reader.u16(), kind: try reader.u16()))
        }
        for _ in 0..<counts[1] { answers.append(try reader.record()) }
        for _ in 0..<counts[2] { authorities.append(try reader.record()) }
        for _ in 0..<counts[3] { additionals.append(try reader.record()) }
        guard bug != .dnsRefusesTrailing || reader.isAtEnd else { throw Malformed("trailing bytes") }
    }
}

/// Reads the parts of a message.
private struct DNSReader {
    private let bytes: [UInt8]
    private let bug: Bug?
    private var position = 0

    init(_ bytes: [UInt8], _ bug: Bug?) { (self.bytes, self.bug) = (bytes, bug) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func u8() throws(Malformed) -> UInt8 {
        guard position < bytes.count else { throw Malformed("too short") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func u16() throws(Malformed) -> UInt16 { UInt16(try u8()) << 8 | UInt16(try u8()) }
    mutating func u32() throws(Malformed) -> UInt32 { UInt32(try u16()) << 16 | UInt32(try u16()) }

    mutating func raw(_ count: Int) throws(Malformed) -> [UInt8] {
        guard count <= bytes.count - position else { throw Malformed("too short") }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func name() throws(Malformed) -> [[UInt8]] {
        var labels: [[UInt8]] = []
        var size = 1
        var start = position
        var pointers = 0
        var end: Int?
        while true {
            let count = try u8()
            if count == 0 { break }
            if count >= 0xc0 {
                let target = Int(count & 0x3f) << 8 | Int(try u8())
                pointers += 1
                end = end ?? position
                let isBackward = (12..<max(start, 12)).contains(target) || bug == .dnsAnyPointer
                guard isBackward, pointers <= 127 else { throw Malformed("a pointer") }
                (position, start) = (target, target)
                continue
            }
            guard count < 64 else { throw Malformed("a label") }
            labels.append(try raw(Int(count)))
            size += 1 + Int(count)
            guard size <= 255 || bug == .dnsLongNames else { throw Malformed("a name of \(size) bytes") }
        }
        if let end { position = end }
        return labels
    }

    mutating func record() throws(Malformed) -> DNSMessage.Record {
        let name = try name()
        let type = try u16()
        let kind = try u16()
        let ttl = try u32()
        let count = Int(try u16())
        guard count <= bytes.count - position else { throw Malformed("a record that is too long") }
        let end = position + count
        let data = try data(type, end, count)
        guard position == end || bug == .dnsAnyForm else { throw Malformed("a record of another size") }
        position = end
        return .init(
            name: name, type: type, isFlush: kind & 0x8000 != 0, kind: kind & 0x7fff, ttl: ttl, data: data)
    }

    /// Returns the data of a known type with names in full.
    private mutating func data(_ type: UInt16, _ end: Int, _ count: Int) throws(Malformed) -> [UInt8] {
        typealias Kind = DNSMessage.Kind
        switch type {
        case Kind.a: return try raw(bug == .dnsAnyForm ? count : 4)
        case Kind.aaaa: return try raw(bug == .dnsAnyForm ? count : 16)
        case Kind.ptr: return try name().wire
        case Kind.srv: return try raw(6) + name().wire
        case Kind.nsec:
            let owner = try name().wire
            guard position <= end else { throw Malformed("NSEC") }
            return owner + (try raw(end - position))
        case Kind.txt:
            var strings: [UInt8] = []
            while position < end {
                let size = try u8()
                strings += [size] + (try raw(Int(size)))
            }
            return strings
        default: return try raw(count)
        }
    }
}
