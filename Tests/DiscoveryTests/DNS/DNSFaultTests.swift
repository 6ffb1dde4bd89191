import MultipeerDiscovery
import TestSupport
import Testing

@Suite("12.3 Faults of DNS messages", .computing)
struct DNSFaultTests {
    /// A question whose name ends with a pointer.
    private func asking(_ labels: [String] = [], _ pointer: Int) -> Packet {
        var packet = Packet(questions: 1)
        packet.add(labels: labels)
        packet.add(pointer: pointer)
        packet.endQuestion()
        return packet
    }

    @Test(
        "a pointer must lead to a place before the labels that it continues [dns.pointer]",
        arguments: [
            ([], 12), ([], 14), (["a"], 12), (["a"], 14), (["a"], 40), ([], 0), ([], 11), ([], 0x3FFF),
        ] as [([String], Int)])
    func pointer(_ labels: [String], _ place: Int) {
        #expect(asking(labels, place).message == .failure(.pointer(place)))
    }

    @Test("two names that point to each other are refused [dns.pointer]")
    func loop() {
        var packet = Packet(questions: 2)
        packet.add(pointer: 18)
        packet.endQuestion()
        packet.add(pointer: 12)
        packet.endQuestion()
        #expect(packet.message == .failure(.pointer(18)))
    }

    @Test("a name with more than 127 pointers is refused [dns.pointer]", arguments: [127, 128])
    func chain(_ count: Int) {
        var packet = Packet(questions: count + 1)
        packet.add(labels: ["a"])
        packet.bytes.append(0)
        packet.endQuestion()
        // Each name is a pointer to the pointer before.
        var last = 12
        for _ in 0..<count {
            let place = packet.bytes.count
            packet.add(pointer: last)
            packet.endQuestion()
            last = place
        }
        switch packet.message {
        case .success(let message):
            #expect(count == 127 && message.questions.allSatisfy { $0.name == "a" })
        case .failure(let fault): #expect(count == 128 && fault == .tooManyPointers)
        }
    }

    @Test(
        "a length byte that is neither of a label nor of a pointer is refused [dns.form]",
        arguments: [0x40, 0x80, 0xBF])
    func label(_ head: UInt8) {
        var packet = Packet(questions: 1)
        packet.bytes += [head] + [UInt8](repeating: 97, count: 200)
        #expect(packet.message == .failure(.labelType(head)))
    }

    @Test("a name of more than 255 bytes is refused, even when pointers make it so long [dns.name]")
    func long() throws {
        let label = String(repeating: "a", count: 63)
        let other = [label, label, label, String(repeating: "b", count: 61)]
        var packet = Packet(questions: 1)
        packet.add(labels: other)
        packet.bytes.append(0)
        packet.endQuestion()
        #expect(try packet.message.get().questions.first?.name.encodedCount == 255)
        packet.bytes[5] = 2
        packet.add(labels: ["c"])
        packet.add(pointer: 12)
        packet.endQuestion()
        #expect(packet.message == .failure(.nameLength))
        var straight = Packet(questions: 1)
        straight.add(labels: other.dropLast() + [String(repeating: "b", count: 62)])
        straight.bytes.append(0)
        straight.endQuestion()
        #expect(straight.message == .failure(.nameLength))
    }

    @Test(
        "data of the wrong length for its type is refused [dns.form]",
        arguments: [
            (1, []), (1, [1, 2, 3]), (1, [1, 2, 3, 4, 5]), (28, [1, 2, 3, 4]), (28, Array(1...17)),
            (12, [0, 0]), (12, [0xC0, 12, 0]), (33, [0, 0, 0, 0, 0, 9, 0, 0]),
        ] as [(UInt16, [UInt8])])
    func data(_ type: UInt16, _ data: [UInt8]) {
        var packet = Packet(answers: 1)
        packet.add(labels: ["a"])
        packet.bytes.append(0)
        packet.endRecord(type, data)
        #expect(packet.message == .failure(.data(DNSType(rawValue: type))))
    }

    @Test(
        "a name that runs past its record is refused, even though the message goes on [dns.form]",
        arguments: [12, 33])
    func overrun(_ type: UInt16) {
        var packet = Packet(answers: 2)
        packet.bytes.append(0)
        packet.endRecord(type, (type == 33 ? [0, 0, 0, 0, 0, 9] : []) + [3, 97])
        packet.bytes += [98, 99, 0]
        packet.endRecord(1, [1, 2, 3, 4])
        #expect(packet.message == .failure(.data(DNSType(rawValue: type))))
    }

    @Test("a message of more than 9,000 bytes is refused before it is read [dns.limit]")
    func bytes() throws {
        let packet = Packet()
        let tail = [UInt8](repeating: 0, count: 9_000 - packet.bytes.count)
        #expect(try read(packet.bytes + tail).get().recordCount == 0)
        #expect(read(packet.bytes + tail + [0]) == .failure(.tooLong(9_001)))
        var message = DNSMessage()
        message.answers = [DNSRecord(.root, ttl: 1, .other(type: 999, [UInt8](repeating: 1, count: 8_978)))]
        #expect(throws: DNSFault.tooLong(9_001)) { try message.encoded() }
    }

    @Test("more than 512 questions and records are refused before they are read [dns.limit]")
    func records() throws {
        var packet = Packet(questions: 500, additionals: 12)
        for _ in 0..<500 { packet.bytes += [0, 0, 1, 0, 1] }
        for _ in 0..<12 {
            packet.bytes.append(0)
            packet.endRecord(1, [1, 2, 3, 4])
        }
        var message = try packet.message.get()
        #expect(message.recordCount == 512)
        #expect(Packet(questions: 500, additionals: 13).message == .failure(.tooManyRecords(513)))
        #expect(Packet(questions: 65_535, answers: 65_535).message == .failure(.tooManyRecords(131_070)))
        message.answers = [DNSRecord(.root, ttl: 1, .a([1, 2, 3, 4]))]
        #expect(throws: DNSFault.tooManyRecords(513)) { try message.encoded() }
    }

    @Test(
        "data that does not fit its type is not written [dns.form]",
        arguments: [
            .a([1, 2, 3]), .aaaa([1, 2, 3, 4]), .nsec(next: .root, types: [256]),
        ] as [DNSData])
    func unwritable(_ data: DNSData) {
        var message = DNSMessage()
        message.answers = [DNSRecord(.root, ttl: 1, data)]
        #expect(throws: DNSFault.data(data.type)) { try message.encoded() }
    }

    @Test("a truncated message is refused at every length [dns.form]", arguments: Captured.all)
    func cut(_ captured: Captured) {
        for count in captured.bytes.indices {
            #expect(read(Array(captured.bytes.prefix(count))) == .failure(.truncated), "\(count)")
        }
    }

    @Test(
        "a message with any bytes changed is read or refused, and any that is read can be written",
        arguments: Captured.all)
    func changed(_ captured: Captured) throws {
        var dice = Seeded(UInt64(captured.bytes.count))
        for _ in 0..<400 {
            var bytes = captured.bytes
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            guard let message = try? read(bytes).get() else { continue }
            #expect(try read(try message.encoded()).get() == message)
        }
    }
}
