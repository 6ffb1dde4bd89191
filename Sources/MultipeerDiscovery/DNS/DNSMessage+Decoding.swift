import MultipeerFraming

extension DNSMessage {
    /// Decodes a datagram. Total: for any bytes, the result is a message or a fault, and its memory is proportional to
    /// the bytes.
    ///
    /// What is harmless and not used here is left out: questions and records of another class than IN, and NSEC records
    /// of another form than RFC 6762, 6.1 allows. Bytes after the last record are ignored.
    package init(_ bytes: Span<UInt8>) throws(DNSFault) {
        self.init()
        guard bytes.count <= DNSMessage.longest else { throw .tooLong(bytes.count) }  // [dns.limit]
        var reader = DNSReader()
        id = try reader.integer(in: bytes)
        flags = try reader.integer(in: bytes)
        var counts: [Int] = []
        for _ in 0..<4 { counts.append(Int(try reader.integer(UInt16.self, in: bytes))) }
        let total = counts.reduce(0, +)
        guard total <= DNSMessage.mostRecords else { throw .tooManyRecords(total) }  // [dns.limit]
        for _ in 0..<counts[0] {
            if let question = try DNSQuestion(&reader, in: bytes) { questions.append(question) }
        }
        answers = try DNSRecord.list(of: counts[1], &reader, in: bytes)
        authorities = try DNSRecord.list(of: counts[2], &reader, in: bytes)
        additionals = try DNSRecord.list(of: counts[3], &reader, in: bytes)
    }
}

private enum DNSClass {
    static let `in`: UInt16 = 1
    static let any: UInt16 = 255
    /// In a question: a unicast response is preferred. In a record: it replaces what is known. RFC 6762, 18.12 and
    /// 18.13.
    static let topBit: UInt16 = 0x8000
}

extension DNSQuestion {
    /// Returns nil for another class.
    fileprivate init?(_ reader: inout DNSReader, in bytes: Span<UInt8>) throws(DNSFault) {
        let name = try reader.name(in: bytes)
        let type = DNSType(rawValue: try reader.integer(in: bytes))
        let code = try reader.integer(UInt16.self, in: bytes)
        guard [DNSClass.in, DNSClass.any].contains(code & ~DNSClass.topBit) else {
            return nil
        }
        self.init(name, type, wantsUnicast: code & DNSClass.topBit != 0)
    }
}

extension DNSRecord {
    fileprivate static func list(
        of count: Int, _ reader: inout DNSReader, in bytes: Span<UInt8>
    ) throws(DNSFault) -> [DNSRecord] {
        var records: [DNSRecord] = []
        for _ in 0..<count {
            if let record = try DNSRecord(&reader, in: bytes) { records.append(record) }
        }
        return records
    }

    /// Returns nil for another class, and for an NSEC that is to be ignored.
    private init?(_ reader: inout DNSReader, in bytes: Span<UInt8>) throws(DNSFault) {
        let name = try reader.name(in: bytes)
        let type = DNSType(rawValue: try reader.integer(in: bytes))
        let code = try reader.integer(UInt16.self, in: bytes)
        let ttl = try reader.integer(UInt32.self, in: bytes)
        let count = Int(try reader.integer(UInt16.self, in: bytes))
        var inside = reader
        let range = try reader.skip(count, in: bytes)
        guard code & ~DNSClass.topBit == DNSClass.in else { return nil }  // [dns.ignored]
        guard let data = try DNSData(type, range, &inside, in: bytes) else { return nil }
        self.init(name, isCacheFlush: code & DNSClass.topBit != 0, ttl: ttl, data)
    }
}

extension DNSData {
    /// Reads the data in `range`, at which `reader` is positioned. Names may point outside it, but only backwards.
    fileprivate init?(
        _ type: DNSType, _ range: Range<Int>, _ reader: inout DNSReader, in bytes: Span<UInt8>
    ) throws(DNSFault) {
        switch type {
        case .a: self = .a(try DNSData.address(4, of: type, range, in: bytes))
        case .aaaa: self = .aaaa(try DNSData.address(16, of: type, range, in: bytes))
        case .ptr:
            self = .ptr(try reader.name(in: bytes))
            guard reader.position == range.upperBound else { throw .data(type) }  // [dns.form]
        case .srv:
            self = .srv(
                priority: try reader.integer(in: bytes), weight: try reader.integer(in: bytes),
                port: try reader.integer(in: bytes), target: try reader.name(in: bytes))
            guard reader.position == range.upperBound else { throw .data(type) }  // [dns.form]
        case .txt:
            // No data means the same as one empty string. RFC 6763, 6.1.
            self = .txt(range.isEmpty ? [0] : [UInt8](copying: bytes.extracting(range)))
        case .nsec:
            guard let nsec = try? DNSData(nsec: range, &reader, in: bytes) else {
                return nil  // [mdns.nsec] [dns.ignored]
            }
            self = nsec
        default:
            self = .other(type: type.rawValue, [UInt8](copying: bytes.extracting(range)))
        }
    }

    private static func address(
        _ count: Int, of type: DNSType, _ range: Range<Int>, in bytes: Span<UInt8>
    ) throws(DNSFault) -> [UInt8] {
        guard range.count == count else { throw .data(type) }  // [dns.form]
        return [UInt8](copying: bytes.extracting(range))
    }

    /// Reads an NSEC of the restricted form: one block, number 0, of 1 to 32 bytes. RFC 6762, 6.1.
    private init(nsec range: Range<Int>, _ reader: inout DNSReader, in bytes: Span<UInt8>) throws(DNSFault) {
        let next = try reader.name(in: bytes)
        let block = try reader.integer(UInt8.self, in: bytes)
        let count = try reader.integer(UInt8.self, in: bytes)
        guard block == 0, (1...32).contains(count) else { throw .data(.nsec) }
        let bits = try reader.array(Int(count), in: bytes)
        guard reader.position == range.upperBound else { throw .data(.nsec) }
        var types: [UInt16] = []
        for (index, byte) in bits.enumerated() {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                types.append(UInt16(8 * index + bit))
            }
        }
        self = .nsec(next: next, types: types)
    }
}
