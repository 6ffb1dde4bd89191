import MultipeerSecurity
import TestSupport
import Testing

@Suite("10.3 DTLS handshakes", .computing)
struct DatagramHandshakeTests {
    @Test(
        "two ends with one key complete the handshake in two round trips and exchange bytes both ways [dgram.key]"
    )
    func agreement() throws {
        var pair = try DatagramPair()
        pair.client.step()
        var flights: [Int] = []
        for _ in 0..<2 {
            let toServer = pair.client.takeDatagrams()
            flights.append(toServer.count)
            for datagram in toServer { pair.server.receive(datagram) }
            let toClient = pair.server.takeDatagrams()
            flights.append(toClient.count)
            for datagram in toClient { pair.client.receive(datagram) }
        }
        #expect(flights == [1, 1, 1, 1])
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        try pair.client.write([1, 2, 3])
        try pair.server.write([UInt8](repeating: 4, count: DatagramChannel.largestContent))
        pair.exchange()
        #expect(pair.server.takeReceived() == [[1, 2, 3]])
        #expect(pair.client.takeReceived() == [[UInt8](repeating: 4, count: DatagramChannel.largestContent)])
    }

    @Test("the key log has the line that a capture of datagrams needs, and only on request")
    func keyLog() throws {
        let lines = Lines()
        var pair = try DatagramPair(keyLog: KeyLog { lines.add($0) })
        pair.exchange()
        #expect(pair.client.isEstablished && pair.server.isEstablished)
        #expect(lines.all.count == 1)
        let words = try #require(lines.all.first).split(separator: " ")
        #expect(words.map(\.count) == [13, 64, 96] && words[0] == "CLIENT_RANDOM")
        var other = try DatagramPair()
        other.exchange()
        #expect(other.client.isEstablished && lines.all.count == 1)
    }

    @Test("two ends with different keys never agree [dgram.key]")
    func wrongKey() throws {
        var pair = try DatagramPair(serverKey: [UInt8](repeating: 0x5B, count: 32))
        for _ in 0..<5 {
            pair.exchange()
            try? pair.client.channel.retransmit()
            try? pair.server.channel.retransmit()
        }
        #expect(pair.client.isEstablished == false && pair.server.isEstablished == false)
    }

    @Test(
        "two clients, and two servers, never agree [dgram.role]",
        arguments: [SecureChannel.Role.client, .server])
    func sameRole(_ role: SecureChannel.Role) throws {
        var one = try DatagramEnd(role, key: DatagramPair.key)
        var other = try DatagramEnd(role, key: DatagramPair.key)
        for _ in 0..<5 {
            one.step()
            other.step()
            for datagram in one.takeDatagrams() { other.receive(datagram) }
            for datagram in other.takeDatagrams() { one.receive(datagram) }
        }
        #expect(one.isEstablished == false && other.isEstablished == false)
    }

    @Test("nothing is repeated before the owner calls for it, however often it steps [dgram.retransmit]")
    func clock() throws {
        var pair = try DatagramPair()
        pair.client.step()
        let first = try #require(pair.client.takeDatagrams().first)
        for _ in 0..<50 {
            pair.client.step()
            pair.client.receive([1, 2, 3])
        }
        #expect(pair.client.takeDatagrams().isEmpty && pair.client.channel.flight == 1)
        var repetitions: [[UInt8]] = []
        for _ in 0..<50 {
            try pair.client.channel.retransmit()
            repetitions += pair.client.takeDatagrams()
        }
        // All have the same content under record numbers of their own, and they are enough for 10 s.
        #expect(repetitions.count >= 9)
        #expect(Set(repetitions.map { $0[3..<11] }).union([first[3..<11]]).count == repetitions.count + 1)
        #expect(repetitions.allSatisfy { $0.dropFirst(11) == first.dropFirst(11) })
        #expect(repetitions.allSatisfy { $0.count <= DatagramChannel.largestBody })
    }

    @Test(
        "a lost last flight is sent again when the peer repeats its own [dgram.keep-reading]",
        arguments: 1...5)
    func lastFlight(_ losses: Int) throws {
        let weather = DatagramConditions(isLost: { fromClient, count in
            !fromClient && (1...losses).contains(count)
        })
        var stage = try DatagramStage(weather, seed: 1)
        #expect(try stage.run(until: 10_000))
        // The server was done long before.
        #expect(stage.now >= 100 && stage.pair.server.channel.flight == 1)
    }

    @Test("after the handshake nothing is repeated unless the peer asks for it")
    func silence() throws {
        var pair = try DatagramPair.established()
        try pair.client.channel.retransmit()
        try pair.server.channel.retransmit()
        #expect(pair.client.takeDatagrams().isEmpty && pair.server.takeDatagrams().isEmpty)
    }

    @Test(
        "a handshake with any byte changed completes, fails or falls silent, and never delivers wrong content"
    )
    func forgeries() throws {
        var flights: [[UInt8]] = []
        var pair = try DatagramPair()
        pair.client.step()
        for _ in 0..<2 {
            flights += pair.client.takeDatagrams()
            pair.server.receive(try #require(flights.last))
            flights += pair.server.takeDatagrams()
            pair.client.receive(try #require(flights.last))
        }
        for (index, flight) in flights.enumerated() {
            for place in flight.indices { try forge(index, place) }
        }
    }

    private func forge(_ forged: Int, _ place: Int) throws {
        var pair = try DatagramPair()
        pair.client.step()
        for index in 0..<4 {
            var datagrams = index % 2 == 0 ? pair.client.takeDatagrams() : pair.server.takeDatagrams()
            if index == forged, !datagrams.isEmpty, datagrams[0].indices.contains(place) {
                datagrams[0][place] ^= 1 << UInt8(place % 8)
            }
            for datagram in datagrams {
                if index % 2 == 0 { pair.server.receive(datagram) } else { pair.client.receive(datagram) }
            }
        }
        #expect(pair.client.takeReceived().isEmpty && pair.server.takeReceived().isEmpty)
        guard pair.client.isEstablished, pair.server.isEstablished else { return }
        try pair.client.write([5])
        pair.exchange()
        #expect(pair.server.takeReceived() == [[5]])
    }
}
