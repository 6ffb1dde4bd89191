import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("10 Unauthenticated datagrams", .inTurns)
struct DatagramUnknownSenderTests {
    @Test(
        "copies, flipped bits, truncations and garbage deliver nothing twice and nothing wrong [dgram.sequence] [dgram.drop]"
    )
    func meddling() async throws {
        // Whether it stays up is the question: that a machine is full for a moment is no answer.
        try await withDatagramTap(.required, pings: DatagramPath.Timing().pings) { meeting, tap in
            let earlier = Locked<[[UInt8]]>([])
            try await meeting.linkUp()
            await tap.meddle { packet, _ in
                let before = earlier.withLock { earlier in
                    earlier.append(packet)
                    return Array(earlier.suffix(5))
                }
                let flips = stride(from: 0, to: packet.count, by: 7).map { place in
                    var flipped = packet
                    flipped[place] ^= 1 << UInt8(place % 8)
                    return flipped
                }
                let cuts = [
                    Array(packet.dropLast()), Array(packet.prefix(9)), Array(packet.prefix(10)), packet + [0],
                ]
                return flips + cuts + [packet, packet] + before
            }
            let messages = (0..<Sanitizer.fewer(100)).map { MessageTests.pattern(20 + $0) }
            var lost = 0
            for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
                for message in messages {
                    try await from.send(message, to: to.peer, delivery: .unreliable)
                    // On a machine that is too busy for its sockets one may be lost, as datagrams may; it is not sent again,
                    // so that nothing can come twice.
                    let arrived = try? await within { await to.events.arrivals(1) }
                    guard let arrived else {
                        lost += 1
                        continue
                    }
                    #expect(arrived.map(\.bytes) == [message])
                }
                try await from.send([0], to: to.peer)
                #expect(try await within { await to.events.messages { _ in true } } == [[0]])
            }
            #expect(lost < 5)
            guard lost == 0 else { return }
            // The path was never in doubt: nothing of this is a fault.
            #expect(await meeting.ann.connectionInfo(for: meeting.bob.peer)?.datagrams.isUp == true)
            #expect(
                await meeting.ann.connectionInfo(for: meeting.bob.peer)?.datagrams.received == messages.count)
        }
    }

    @Test(
        "a datagram replayed from another address is neither delivered nor answered, and changes no address [dgram.address]",
        arguments: DatagramTests.preferences)
    func replayed(_ preference: EncryptionPreference) async throws {
        try await withDatagramTap(preference, pings: DatagramPath.Timing().pings) { meeting, tap in
            try await meeting.linkUp()
            for number in 0..<50 {
                try await meeting.ann.send(
                    MessageTests.numbered(number), to: meeting.bob.peer, delivery: .unreliable)
            }
            _ = try await within { await meeting.bob.events.arrivals(50) }
            let stranger = try DatagramTap.Port()
            let target = try #require(tap.target(.bob))
            let packets = await tap.seen.filter { $0.to == .bob }.map(\.packet)
            for _ in 0..<5 { stranger.send(packets, to: target) }
            try await meeting.ann.send([1], to: meeting.bob.peer, delivery: .unreliable)
            #expect(try await within { await meeting.bob.events.arrivals(1) }.map(\.bytes) == [[1]])
            try await meeting.bob.send([2], to: meeting.ann.peer, delivery: .unreliable)
            #expect(try await within { await meeting.ann.events.arrivals(1) }.map(\.bytes) == [[2]])
            #expect(stranger.receive().isEmpty)
        }
    }

    @Test(
        "a peer's address changes only with datagrams that prove their sender [dgram.address]",
        arguments: DatagramTests.preferences)
    func moved(_ preference: EncryptionPreference) async throws {
        try await withDatagramTap(preference, pings: DatagramPath.Timing().pings) { meeting, tap in
            try await meeting.linkUp()
            let elsewhere = try DatagramTap.Port()
            await tap.moveSource(of: .bob, to: elsewhere)
            // The first may cross with answers; each later one finds bob knowing the new address.
            try await meeting.ann.send([1], to: meeting.bob.peer, delivery: .unreliable)
            #expect(try await within { await meeting.bob.events.arrivals(1) }.map(\.bytes) == [[1]])
            try await meeting.bob.send([2], to: meeting.ann.peer, delivery: .unreliable)
            if preference == .none {
                #expect(try await within { await meeting.ann.events.arrivals(1) }.map(\.bytes) == [[2]])
                #expect(elsewhere.receive().isEmpty)
            } else {
                try await within { while elsewhere.receive().isEmpty { await Task.yield() } }
            }
        }
    }

    @Test("a datagram without a receiver is counted and not answered [dgram.drop]")
    func counted() async throws {
        let configuration = Session.Configuration.loopback()
        let (tap, pings) = (try await DatagramTap(), DatagramPath.Timing().pings)
        let ann = try SessionDriver(
            PeerID(displayName: "ann"), configuration.tapped(by: tap, as: .ann, pings: pings))
        let bob = try Session(
            peer: PeerID(displayName: "bob"),
            configuration: configuration.tapped(by: tap, as: .bob, pings: pings))
        let (annsData, bobsData) = (try await ann.connectionData(for: nil), try await bob.connectionData())
        async let first: Void = ann.connect(with: bobsData)
        async let second: Void = bob.connect(with: annsData)
        _ = try await (first, second)
        try await bob.datagrams(areUp: true, to: ann.peer)
        // Ann may be notified after Bob.
        try await within {
            while await ann.facts(bob.peer.uid)?.datagrams.isUp != true { await Task.yield() }
        }
        let real = try #require(await tap.seen.first { $0.to == .ann }?.packet)
        var strays = [real, real, real, real, real, Array(real.prefix(8)), Array(real.prefix(9))]
        strays[0][8] ^= 1  // another association
        strays[1][0] = 2  // the kind of plain links
        strays[2][0] = 3  // no kind at all
        strays[3] += [UInt8](repeating: 0, count: 1_201 - real.count)
        strays[4][1] ^= 128
        // The handshake's first packet may overtake the offer that it answers.
        let before = await ann.strayDatagrams
        let stranger = try DatagramTap.Port()
        stranger.send(strays, to: try #require(tap.target(.ann)))
        let expected = before + strays.count
        try await within { while await ann.strayDatagrams < expected { await Task.yield() } }
        #expect(await ann.strayDatagrams == expected)
        #expect(stranger.receive().isEmpty)
        #expect(await ann.facts(bob.peer.uid)?.datagrams.isUp == true)
        await ann.shutDown()
        await bob.disconnect()
        await tap.stop()
    }

    @Test("a million unauthenticated packets are not answered and delay no other work [dgram.drop]")
    func garbage() async throws {
        try await withDatagramTap(.required) { meeting, tap in
            try await meeting.linkUp()
            let target = try #require(tap.target(.bob))
            let stranger = try DatagramTap.Port()
            var seeded = Seeded(7)
            let waves = (0..<16).map { _ in
                (0..<64).map { index -> [UInt8] in
                    var packet = [UInt8](
                        (0..<(index % 2 == 0 ? 60 : 9)).map { _ in UInt8.random(in: 0...255, using: &seeded) }
                    )
                    packet[0] = UInt8(index % 4)
                    return packet
                }
            }
            let flood = Task.detached {
                for wave in 0..<Sanitizer.fewer(1_000_000 / 64) {
                    stranger.send(waves[wave % 16], to: target)
                }
            }
            for number in 0..<20 {
                let message = MessageTests.numbered(number)
                try await meeting.ann.send(message, to: meeting.bob.peer)
                #expect(try await within { await meeting.bob.events.messages(1) } == [message])
            }
            await flood.value
            #expect(stranger.receive().isEmpty)
            try await meeting.ann.datagrams(to: meeting.bob.peer) { $0.isUp }
        }
    }
}
