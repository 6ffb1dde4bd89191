/// A message of multicast DNS. RFC 1035, 4; Spec 12.3.
struct DNSMessage {
    struct Question: Hashable {
        var name: [[UInt8]]
        var type: UInt16
        /// With the bit that asks for unicast.
        var kind: UInt16 = 1
    }

    /// A record; names in `data` are not compressed.
    struct Record: Hashable {
        var name: [[UInt8]]
        var type: UInt16
        var isFlush = false
        var kind: UInt16 = 1
        var ttl: UInt32
        var data: [UInt8]

        /// The same record, whatever its time to live.
        func isSame(as other: Record) -> Bool {
            name.folded == other.name.folded && type == other.type && data == other.data
        }
    }

    enum Kind {
        static let a: UInt16 = 1
        static let ptr: UInt16 = 12
        static let txt: UInt16 = 16
        static let aaaa: UInt16 = 28
        static let srv: UInt16 = 33
        static let nsec: UInt16 = 47
        static let any: UInt16 = 255
    }

    static let query: UInt16 = 0
    static let response: UInt16 = 0x8400
    /// In a query: more known answers follow.
    static let truncated: UInt16 = 0x0200

    var id: UInt16 = 0
    var flags: UInt16
    var questions: [Question] = []
    var answers: [Record] = []
    var authorities: [Record] = []
    var additionals: [Record] = []

    var isResponse: Bool { flags & 0x8000 != 0 }
    var records: [Record] { answers + authorities + additionals }

    /// The message without compression.
    var bytes: [UInt8] {
        ByteWriter.bytes { writer in
            writer.u16(id)
            writer.u16(flags)
            writer.u16(UInt16(questions.count))
            for list in [answers, authorities, additionals] { writer.u16(UInt16(list.count)) }
            for question in questions {
                writer.raw(question.name.wire)
                writer.u16(question.type)
                writer.u16(question.kind)
            }
            for record in records {
                writer.raw(record.name.wire)
                writer.u16(record.type)
                writer.u16(record.kind | (record.isFlush ? 0x8000 : 0))
                writer.u32(record.ttl)
                writer.u16(UInt16(record.data.count))
                writer.raw(record.data)
            }
        }
    }

    static func asking(_ name: [[UInt8]], _ type: UInt16) -> DNSMessage {
        DNSMessage(flags: query, questions: [Question(name: name, type: type)])
    }
}

/// A domain name is a list of labels.
extension [[UInt8]] {
    /// The labels of a name without dots in them.
    static func labels(_ text: String) -> [[UInt8]] {
        text.split(separator: ".").map { [UInt8]($0.utf8) }
    }

    /// The name without compression.
    var wire: [UInt8] { flatMap { [UInt8(truncatingIfNeeded: $0.count)] + $0 } + [0] }

    /// In the form in which names are compared.
    var folded: [[UInt8]] {
        map { label in label.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 } }
    }
}

extension DNSMessage.Record {
    static func pointer(_ name: [[UInt8]], to target: [[UInt8]], ttl: UInt32 = 4_500) -> DNSMessage.Record {
        .init(name: name, type: DNSMessage.Kind.ptr, ttl: ttl, data: target.wire)
    }

    static func service(
        _ name: [[UInt8]], at host: [[UInt8]], port: UInt16, ttl: UInt32 = 120
    ) -> DNSMessage.Record {
        let data = ByteWriter.bytes {
            $0.u32(0)
            $0.u16(port)
            $0.raw(host.wire)
        }
        return .init(name: name, type: DNSMessage.Kind.srv, isFlush: true, ttl: ttl, data: data)
    }

    static func text(_ name: [[UInt8]], _ strings: [String], ttl: UInt32 = 4_500) -> DNSMessage.Record {
        let data = strings.flatMap { [UInt8(truncatingIfNeeded: $0.utf8.count)] + Array($0.utf8) }
        return .init(name: name, type: DNSMessage.Kind.txt, isFlush: true, ttl: ttl, data: data)
    }

    static func address(_ host: [[UInt8]], _ address: [UInt8], ttl: UInt32 = 120) -> DNSMessage.Record {
        .init(name: host, type: DNSMessage.Kind.a, isFlush: true, ttl: ttl, data: address)
    }

    /// The name in the data of PTR, or of SRV.
    var target: [[UInt8]]? {
        var reader = ByteReader(data)
        if type == DNSMessage.Kind.srv { _ = try? reader.raw(6) }
        guard type == DNSMessage.Kind.srv || type == DNSMessage.Kind.ptr else { return nil }
        var labels: [[UInt8]] = []
        while let count = try? reader.u8(), count > 0 {
            guard let label = try? reader.raw(Int(count)) else { return nil }
            labels.append(label)
        }
        return labels
    }

    /// The port in the data of SRV.
    var port: UInt16? {
        type == DNSMessage.Kind.srv && data.count > 6 ? UInt16(data[4]) << 8 | UInt16(data[5]) : nil
    }

    /// The strings in the data of TXT.
    var strings: [[UInt8]] {
        var reader = ByteReader(data)
        var list: [[UInt8]] = []
        while let count = try? reader.u8(), let string = try? reader.raw(Int(count)) { list.append(string) }
        return list
    }
}
