import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.3 DNS messages", .computing)
struct DNSMessageTests {
    private static let host: DNSName = "mpc-0011223344556677.local"
    private static let instance = try? DNSName("_chat._tcp.local").child(Array("Ann É v1.2-aaaa".utf8))

    /// One record of each kind.
    private func full() throws -> DNSMessage {
        let instance = try #require(Self.instance)
        var message = DNSMessage()
        message.id = 0x1234
        message.isResponse = true
        message.isAuthoritative = true
        message.questions = [
            DNSQuestion("_chat._tcp.local", .ptr), DNSQuestion(instance, .any, wantsUnicast: true),
        ]
        message.answers = [
            DNSRecord("_chat._tcp.local", ttl: 4_500, .ptr(instance)),
            DNSRecord(
                instance, isCacheFlush: true, ttl: 120,
                .srv(priority: 1, weight: 2, port: 3, target: Self.host)),
            DNSRecord(instance, isCacheFlush: true, ttl: 4_500, .txt([5] + Array("mpc=1".utf8))),
        ]
        message.authorities = [DNSRecord(instance, ttl: .max, .nsec(next: instance, types: [16, 33, 255]))]
        message.additionals = [
            DNSRecord(Self.host, isCacheFlush: true, ttl: 120, .a([127, 0, 0, 1])),
            DNSRecord(Self.host, isCacheFlush: true, ttl: 0, .aaaa(Array(1...16))),
            DNSRecord(Self.host, ttl: 1, .other(type: 13, [1, 2, 3])),
        ]
        return message
    }

    @Test(
        "every kind of record survives a round trip, in each form",
        arguments: [(true, false), (true, true), (false, false)])
    func roundTrip(_ isCompressing: Bool, _ isLegacy: Bool) throws {
        let message = try full()
        let bytes = try message.encoded(compressing: isCompressing, legacy: isLegacy)
        #expect(try read(bytes).get() == message)
        #expect(
            try message.encoded(compressing: isCompressing, legacy: isLegacy) == bytes, "the same bytes again"
        )
    }

    @Test("a message is read at any alignment", arguments: 0..<8)
    func alignment(_ offset: Int) throws {
        let bytes =
            try [UInt8](repeating: 0xff, count: offset) + full().encoded(compressing: true, legacy: false)
        #expect(try DNSMessage(bytes.span.extracting(droppingFirst: offset)) == full())
    }

    @Test("a name that occurs earlier in the message is compressed, whole or by its suffix")
    func compression() throws {
        var message = DNSMessage()
        message.questions = [DNSQuestion("_chat._tcp.local", .ptr), DNSQuestion("_talk._tcp.local", .ptr)]
        message.answers = [DNSRecord("_chat._tcp.local", ttl: 1, .ptr("x._chat._tcp.local"))]
        var expected = Packet(questions: 2, answers: 1)
        expected.add(labels: ["_chat", "_tcp", "local"])
        expected.bytes.append(0)
        expected.endQuestion()
        expected.add(labels: ["_talk"])
        expected.add(pointer: 18)
        expected.endQuestion()
        expected.add(pointer: 12)
        expected.endRecord(12, ttl: 1, [1, 0x78, 0xC0, 12])
        #expect(try message.encoded() == expected.bytes)
        #expect(message.encodedCount == expected.bytes.count)
    }

    @Test("compression keeps the case of every name")
    func caseSurvives() throws {
        var message = DNSMessage()
        message.questions = [DNSQuestion("a.local", .any), DNSQuestion("A.LOCAL", .any)]
        let read = try read(try message.encoded()).get()
        #expect(read.questions.map(\.name.description) == ["a.local", "A.LOCAL"])
    }

    @Test("for legacy resolvers the names within SRV and NSEC are not compressed [mdns.legacy]")
    func legacy() throws {
        var message = DNSMessage()
        message.answers = [
            DNSRecord("a.local", ttl: 1, .srv(priority: 0, weight: 0, port: 9, target: "a.local")),
            DNSRecord("a.local", ttl: 1, .nsec(next: "a.local", types: [1])),
            DNSRecord("a.local", ttl: 1, .ptr("a.local")),
        ]
        let name: [UInt8] = [1, 97, 5, 108, 111, 99, 97, 108, 0]
        var expected = Packet(answers: 3)
        expected.bytes += name
        expected.endRecord(33, ttl: 1, [0, 0, 0, 0, 0, 9] + name)
        expected.add(pointer: 12)
        expected.endRecord(47, ttl: 1, name + [0, 1, 0x40])
        expected.add(pointer: 12)
        expected.endRecord(12, ttl: 1, [0xC0, 12])
        #expect(try message.encoded(legacy: true) == expected.bytes)
        #expect(try message.encoded().count == expected.bytes.count - 14)
    }

    @Test("the computed size of every record is an upper bound")
    func sizes() throws {
        let message = try full()
        let records = message.answers + message.authorities + message.additionals
        let sum =
            message.questions.map(\.encodedCount).reduce(12, +) + records.map(\.encodedCount).reduce(0, +)
        #expect(try message.encoded(compressing: false).count == sum)
        #expect(try message.encoded().count == message.encodedCount)
        #expect(message.encodedCount < sum)
    }

    @Test("header bits without a meaning are ignored, and written as 0")
    func head() throws {
        let message = try Packet(flags: 0xFFFF).message.get()
        #expect(message.isResponse && message.isAuthoritative && message.isTruncated)
        #expect(message.opcode == 15 && message.responseCode == 15)
        #expect(try message.encoded()[2...3] == [0xFE, 0x0F])
    }

    @Test("questions and records of another class are skipped")
    func classes() throws {
        var packet = Packet(questions: 3, answers: 3)
        for code: UInt16 in [3, 255, 0x8001] {
            packet.add(labels: ["q"])
            packet.bytes.append(0)
            packet.endQuestion(1, code)
        }
        for code: UInt16 in [3, 255, 0x8001] {
            packet.bytes.append(0)
            packet.endRecord(1, code, [1, 2, 3, 4])
        }
        let message = try packet.message.get()
        #expect(message.questions.map(\.wantsUnicast) == [false, true])
        #expect(message.answers.map(\.isCacheFlush) == [true])
    }

    @Test("a record of an unknown type is kept as it is, including pointers")
    func unknown() throws {
        var packet = Packet(answers: 2)
        for type: UInt16 in [5, 65_280] {
            packet.bytes.append(0)
            packet.endRecord(type, [0xC0, 0xFF])
        }
        let message = try packet.message.get()
        #expect(
            message.answers.map(\.data) == [
                .other(type: 5, [0xC0, 0xFF]), .other(type: 65_280, [0xC0, 0xFF]),
            ])
        #expect(try message.encoded() == packet.bytes)
    }

    @Test(
        "an NSEC record of another form is skipped, and the rest of the message is read [mdns.nsec]",
        arguments: [
            [], [0], [0, 0], [0, 0, 0], [0, 1, 1, 0x40], [0, 0, 33] + [UInt8](repeating: 1, count: 33),
            [0, 0, 2, 0x40], [0, 0, 1, 0x40, 9], [0xC0, 0xFF, 0, 1, 0x40], [0, 0, 1, 0x40, 1, 1, 0x40],
        ] as [[UInt8]])
    func nsec(_ data: [UInt8]) throws {
        var packet = Packet(answers: 2)
        packet.bytes.append(0)
        packet.endRecord(47, data)
        packet.bytes.append(0)
        packet.endRecord(1, [1, 2, 3, 4])
        #expect(try packet.message.get().answers.map(\.data) == [.a([1, 2, 3, 4])])
    }

    @Test("an NSEC record lists the existing types, up to 255 [mdns.nsec]")
    func bitmap() throws {
        for types in [[], [0], [1, 28], [255], Array(0...255)] as [[UInt16]] {
            var message = DNSMessage()
            message.answers = [DNSRecord("a.local", ttl: 1, .nsec(next: "a.local", types: types))]
            #expect(try read(try message.encoded()).get() == message)
        }
    }

    @Test("a TXT record without data equals one empty string")
    func emptyTXT() throws {
        var packet = Packet(answers: 1)
        packet.bytes.append(0)
        packet.endRecord(16, [])
        #expect(try packet.message.get().answers.map(\.data) == [.txt([0])])
    }

    @Test("bytes after the last record are ignored")
    func tail() throws {
        var packet = Packet(id: 7)
        packet.bytes += [1, 2, 3]
        #expect(try packet.message.get().id == 7)
    }
}
