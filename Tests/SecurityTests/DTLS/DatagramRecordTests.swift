import MultipeerFraming
import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.3 DTLS records", .computing)
struct DatagramRecordTests {
    @Test(
        "contents of any length arrive, each in one datagram [dgram.size]",
        arguments: [1, 2, 64, 1_155, 1_162])
    func lengths(_ count: Int) throws {
        var pair = try DatagramPair.established()
        try pair.client.write([UInt8](repeating: 7, count: count))
        let datagrams = pair.client.takeDatagrams()
        #expect(datagrams.map(\.count) == [count + DatagramChannel.recordOverhead])
        #expect(datagrams[0].count <= Limits.datagram - DatagramHeader.byteCount)
        pair.server.receive(datagrams[0])
        #expect(pair.server.takeReceived() == [[UInt8](repeating: 7, count: count)])
    }

    @Test("each content is delivered as a separate datagram, in order, and once")
    func batches() throws {
        var pair = try DatagramPair.established()
        for value in 0..<UInt8(100) {
            try pair.client.write([UInt8](repeating: value, count: 1 + Int(value)))
        }
        let datagrams = pair.client.takeDatagrams()
        #expect(datagrams.map(\.count) == (0..<100).map { $0 + 1 + DatagramChannel.recordOverhead })
        #expect(pair.client.takeDatagrams().isEmpty)
        for datagram in datagrams { pair.server.receive(datagram) }
        #expect(pair.server.takeReceived().map(\.count) == Array(1...100))
    }

    @Test("a datagram that is opened comes after those that were received and not read")
    func opened() throws {
        var pair = try DatagramPair.established()
        for value in 0..<UInt8(20) { try pair.client.write([value]) }
        let datagrams = pair.client.takeDatagrams()
        for datagram in datagrams[..<19] { try pair.server.channel.receive(datagram.span) }
        pair.server.receive(datagrams[19])
        #expect(pair.server.takeReceived() == (0..<20).map { [$0] })
    }

    @Test("several records in one datagram are all read, and several datagrams before one read")
    func together() throws {
        var pair = try DatagramPair.established()
        for value in 0..<UInt8(20) { try pair.client.write([value]) }
        let datagrams = pair.client.takeDatagrams()
        pair.server.receive(Array(datagrams[..<10].joined()))
        for datagram in datagrams[10...] { try pair.server.channel.receive(datagram.span) }
        pair.server.step()
        #expect(pair.server.takeReceived() == (0..<20).map { [$0] })
    }

    @Test("a record with any bit changed is skipped, and the next one is read [dgram.drop]")
    func flips() throws {
        var pair = try DatagramPair.established()
        try pair.client.write([1, 2, 3])
        let record = try #require(pair.client.takeDatagrams().first)
        for bit in 0..<(record.count * 8) {
            var changed = record
            changed[bit / 8] ^= 1 << (bit % 8)
            pair.server.receive(changed)
        }
        #expect(pair.server.takeReceived().isEmpty && pair.server.takeDatagrams().isEmpty)
        pair.server.receive(record)
        #expect(pair.server.takeReceived() == [[1, 2, 3]] && pair.server.fault == nil)
    }

    @Test("a truncated or extended record is never misread [dgram.drop]")
    func cuts() throws {
        var pair = try DatagramPair.established()
        try pair.client.write([1, 2, 3])
        let record = try #require(pair.client.takeDatagrams().first)
        for count in 0..<record.count { pair.server.receive(Array(record.prefix(count))) }
        #expect(pair.server.takeReceived().isEmpty)
        pair.server.receive(record + [23, 0xFE, 0xFD, 0, 1])
        #expect(pair.server.takeReceived() == [[1, 2, 3]] && pair.server.fault == nil)
    }

    @Test(
        "a record too short to be protected is dropped: it would end the association otherwise [dgram.drop]"
    )
    func short() throws {
        var pair = try DatagramPair()
        pair.client.step()
        for isEstablished in [false, true] {
            for length in 0...UInt8(16) {
                let header: [UInt8] = [23, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 1, length, 0, length]
                pair.server.receive(header + [UInt8](repeating: 0, count: Int(length)))
                pair.client.receive(header + [UInt8](repeating: 0, count: Int(length)))
            }
            if !isEstablished { pair.exchange() }
        }
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        #expect(pair.client.fault == nil && pair.server.fault == nil)
    }

    @Test("an empty datagram is dropped, before and after the handshake [dgram.drop]")
    func empty() throws {
        var pair = try DatagramPair()
        pair.server.receive([])
        pair.client.receive([])
        pair.exchange()
        for _ in 0..<10 {
            pair.server.receive([])
            pair.client.receive([])
        }
        try pair.client.write([1])
        pair.exchange()
        #expect(pair.server.takeReceived() == [[1]] && pair.server.fault == nil && pair.client.fault == nil)
    }

    @Test("an oversized datagram is dropped [dgram.size]")
    func long() throws {
        var pair = try DatagramPair.established()
        for _ in 0..<80 { try pair.client.write([1]) }
        let records = Array(pair.client.takeDatagrams().joined())
        #expect(records.count > DatagramChannel.largestBody)
        pair.server.receive(records)
        #expect(pair.server.takeReceived().isEmpty && pair.server.fault == nil)
    }

    @Test("a repeated record is read once; one overtaken by fewer than 64 others is still read")
    func replays() throws {
        var pair = try DatagramPair.established()
        for value in 0..<UInt8(200) { try pair.client.write([value]) }
        let records = pair.client.takeDatagrams()
        for record in records[1..<64] { pair.server.receive(record) }
        pair.server.receive(records[0])
        for record in records { pair.server.receive(record) }
        for record in records { pair.server.receive(record) }
        let read = pair.server.takeReceived().map { $0[0] }
        #expect(read.count == 200 && Set(read).count == 200 && read[63] == 0)
    }

    @Test("records of another association, and those reflected to their sender, are ignored [dgram.key]")
    func foreign() throws {
        var pair = try DatagramPair.established()
        var other = try DatagramPair.established()
        try other.client.write([1])
        try pair.client.write([2])
        let (strange, own) = (other.client.takeDatagrams(), pair.client.takeDatagrams())
        for datagram in strange { pair.server.receive(datagram) }
        for datagram in own { pair.client.receive(datagram) }
        #expect(pair.server.takeReceived().isEmpty && pair.client.takeReceived().isEmpty)
        #expect(pair.server.fault == nil && pair.client.fault == nil)
    }

    @Test(
        "unprotected records are skipped after the handshake: contents, alerts, a first flight [dgram.drop]"
    )
    func oldEpoch() throws {
        var pair = try DatagramPair()
        pair.client.step()
        let hello = try #require(pair.client.takeDatagrams().first)
        pair.server.receive(hello)
        pair.exchange()
        for kind: UInt8 in [20, 21, 22, 23] {
            for epoch: UInt8 in [0, 2, 3] {
                let header: [UInt8] = [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 2, 0, 0, 2]
                pair.server.receive(header + (kind == 21 ? [2, 40] : [1, 0]))
                pair.client.receive(header + (kind == 21 ? [1, 0] : [1, 0]))
            }
        }
        pair.server.receive(hello)
        pair.client.receive(hello)
        #expect(pair.server.takeDatagrams().isEmpty && pair.client.takeDatagrams().isEmpty)
        try pair.client.write([1])
        try pair.server.write([2])
        pair.exchange()
        #expect(pair.server.takeReceived() == [[1]] && pair.client.takeReceived() == [[2]])
    }

    @Test(
        "a thousand contents among garbage arrive once each, and the garbage is not answered [dgram.drop]")
    func garbage() throws {
        var pair = try DatagramPair.established()
        var random = Seeded(9)
        var expected: [[UInt8]] = []
        for index in 0..<1_000 {
            let content = random.bytes(1 + index % 500)
            try pair.client.write(content)
            expected.append(content)
            let record = try #require(pair.client.takeDatagrams().first)
            for _ in 0..<20 { pair.server.receive(Self.junk(like: record, using: &random)) }
            pair.server.receive(record)
            pair.server.receive(record)
        }
        let isWhole = pair.server.takeReceived() == expected
        #expect(isWhole)
        #expect(pair.server.fault == nil && pair.server.takeDatagrams().isEmpty)
    }

    /// Random bytes, a random record, or a good one that was changed.
    private static func junk(like record: [UInt8], using random: inout Seeded) -> [UInt8] {
        switch random.next() % 3 {
        case 0: return random.bytes(Int.random(in: 0...1_191, using: &random))
        case 1:
            let count = Int.random(in: 0...200, using: &random)
            let kind = UInt8.random(in: 19...26, using: &random)
            let epoch = UInt8.random(in: 0...2, using: &random)
            let header: [UInt8] = [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0]
            return header + random.bytes(2) + [0, UInt8(count)] + random.bytes(count)
        default:
            var changed = record
            changed[Int.random(in: record.indices, using: &random)] ^=
                1 << UInt8.random(in: 0...7, using: &random)
            return random.next() % 2 == 0
                ? changed : Array(changed.prefix(Int.random(in: 0...13, using: &random)))
        }
    }
}
