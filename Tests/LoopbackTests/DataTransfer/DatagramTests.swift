import Multipeer
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("10 Unreliable messages", .inTurns)
struct DatagramTests {
    static let preferences = [EncryptionPreference.required, .none]

    @Test("unreliable messages go both ways over UDP, each once [dgram.mode]", arguments: preferences)
    func bothWays(_ preference: EncryptionPreference) async throws {
        for address in [SocketAddress.loopback, SocketAddress(.loopbackV6, port: 0)] {
            let configuration = Session.Configuration.loopback(preference).with {
                $0.listenAddresses = [address]
            }
            let meeting = try Meeting(ann: configuration, bob: configuration)
            try await meeting.linkUp()
            let messages = (0..<60).map { [UInt8](repeating: UInt8($0), count: $0 * 19) }
            for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
                for message in messages { try await from.send(message, to: to.peer, delivery: .unreliable) }
                let arrived = try await within { await to.events.arrivals(60) }
                #expect(Set(arrived.map(\.bytes)) == Set(messages))
                #expect(arrived.allSatisfy { $0.delivery == .unreliable && $0.peer == from.peer })
                let facts = try #require(await from.connectionInfo(for: to.peer)).datagrams
                #expect(facts.sent == 60)
                #expect(facts.dropped == 0)
                #expect(try #require(await to.connectionInfo(for: from.peer)).datagrams.received == 60)
            }
            await meeting.end()
        }
    }

    @Test("a message that does not fit a datagram is sent over the link [dgram.message-max] [dgram.fallback]")
    func tooLarge() async throws {
        let meeting = try Meeting()
        try await meeting.linkUp()
        for count in [1_150, 1_151, 100_000] {
            let message = MessageTests.pattern(count)
            try await meeting.ann.send(message, to: meeting.bob.peer, delivery: .unreliable)
            let arrived = try await within { await meeting.bob.events.arrivals(1) }
            #expect(arrived.first?.bytes == message)
            #expect(arrived.first?.delivery == (count == 1_150 ? .unreliable : .reliable))
        }
        await #expect(throws: MultipeerError(.tooLarge, "")) {
            let message = [UInt8](repeating: 0, count: 16 * 1_048_576 + 1)
            try await meeting.ann.send(message, to: meeting.bob.peer, delivery: .unreliable)
        }
        await meeting.end()
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await meeting.ann.send([1], to: meeting.bob.peer, delivery: .unreliable)
        }
    }

    @Test(
        "a peer without datagrams receives none, and messages are sent over the link [dgram.offer] [dgram.fallback]"
    )
    func unwanted() async throws {
        let without = Session.Configuration.loopback().with { $0.allowsDatagrams = false }
        let meeting = try Meeting(bob: without)
        try await meeting.link()
        #expect(try await meeting.ann.connectionData().flags.contains(.datagrams))
        #expect(try await !meeting.bob.connectionData().flags.contains(.datagrams))
        for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
            try await from.send([7], to: to.peer, delivery: .unreliable)
            let arrived = try await within { await to.events.arrivals(1) }
            #expect(arrived.map(\.delivery) == [.reliable])
            #expect(await from.connectionInfo(for: to.peer)?.datagrams == ConnectionInfo.Datagrams())
        }
        await meeting.end()
    }

    @Test(
        "while UDP does not work messages use the link, and UDP is tried again [dgram.path] [dgram.fallback]",
        arguments: preferences)
    func blocked(_ preference: EncryptionPreference) async throws {
        try await withDatagramTap(preference) { meeting, tap in
            await tap.meddle { _, _ in [] }
            try await meeting.link()
            for phase in UInt8(0)..<4 {
                let isOpen = phase % 2 == 1
                if isOpen {
                    await tap.meddle { packet, _ in [packet] }
                } else {
                    await tap.meddle { _, _ in [] }
                }
                for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
                    try await from.datagrams(areUp: isOpen, to: to.peer)
                }
                for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
                    if isOpen {
                        try await overUDP(20, from: from, to: to, mark: phase)
                    } else {
                        let messages = (0..<20).map { [UInt8($0), phase] }
                        for message in messages {
                            try await from.send(message, to: to.peer, delivery: .unreliable)
                        }
                        let arrived = try await within { await to.events.arrivals(20, mark: phase) }
                        #expect(Set(arrived.map(\.bytes)) == Set(messages))
                        #expect(arrived.allSatisfy { $0.delivery == .reliable })
                    }
                }
            }
        }
    }

    /// Sends until so many messages with this mark arrived over UDP. A loop that is held up for longer than the
    /// silence that a path bears takes it down for a moment: then some use the link, and one may be lost.
    private func overUDP(
        _ count: Int, from: Session, to: Session, mark: UInt8
    ) async throws {
        try await within {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    while !Task.isCancelled {
                        try await from.send([0, mark], to: to.peer, delivery: .unreliable)
                        try await Task.sleep(for: .milliseconds(2))
                    }
                }
                let arrived = await to.events.arrivals(count, mark: mark) { $0.delivery == .unreliable }
                #expect(arrived.count == count)
                group.cancelAll()
                while let result = await group.nextResult() {
                    if case .failure(let error) = result, !(error is CancellationError) { throw error }
                }
            }
        }
    }

    @Test("when UDP fails, sending continues over the link, and nothing arrives twice [dgram.fallback]")
    func broken() async throws {
        try await withDatagramTap(.required) { meeting, tap in
            try await meeting.linkUp()
            let sending = Task {
                for number in 0..<2_000 {
                    try await meeting.ann.send(
                        MessageTests.numbered(number), to: meeting.bob.peer, delivery: .unreliable)
                }
            }
            await tap.meddle { _, _ in [] }
            try await meeting.ann.datagrams(areUp: false, to: meeting.bob.peer)
            try await within { try await sending.value }
            try await meeting.ann.send([1, 2, 3], to: meeting.bob.peer, delivery: .unreliable)
            let arrived = try await within { await meeting.bob.events.messages { $0.count == 3 } }
            #expect(Set(arrived).count == arrived.count)
        }
    }

    @Test("an application's unread messages are bounded, and further ones are lost [limit.datagrams]")
    func unread() async throws {
        let meeting = try Meeting()
        try await meeting.linkUp()
        let message = MessageTests.pattern(1_100)
        // A few at a time, until many were too many: how many are lost on the way is the kernel's affair.
        try await within {
            while let facts = await meeting.bob.connectionInfo(for: meeting.ann.peer),
                facts.datagrams.dropped < 200
            {
                for _ in 0..<20 {
                    try await meeting.ann.send(message, to: meeting.bob.peer, delivery: .unreliable)
                }
            }
        }
        let facts = try #require(await meeting.bob.connectionInfo(for: meeting.ann.peer)).datagrams
        #expect(facts.received * (1_100 + 64) <= 1_048_576)
        #expect(facts.dropped > 0)
        let arrived = try await within { await meeting.bob.events.arrivals(facts.received) }
        #expect(arrived.allSatisfy { $0.bytes == message })
        // Some of the many may come only now, and be received before.
        let last = Promise<[UInt8]?>()
        let reading = Task { last.send(await meeting.bob.events.messages { $0 == [9] }.last) }
        defer { reading.cancel() }
        try await within {
            while !last.isSent {
                try await meeting.ann.send([9], to: meeting.bob.peer, delivery: .unreliable)
                await Task.yield()
            }
        }
        #expect(await last.value() == [9])
        await meeting.end()
    }
}

extension Meeting {
    /// Links, and waits until UDP gets through both ways.
    func linkUp() async throws {
        try await link()
        try await ann.datagrams(to: bob.peer) { $0.isUp }
        try await bob.datagrams(to: ann.peer) { $0.isUp }
    }
}

func withDatagramTap(
    _ preference: EncryptionPreference, pings: Duration = .milliseconds(100),
    _ body: (Meeting, DatagramTap) async throws -> Void
) async throws {
    let tap = try await DatagramTap()
    let configuration = Session.Configuration.loopback(preference)
    let meeting = try Meeting(
        ann: configuration.tapped(by: tap, as: .ann, pings: pings),
        bob: configuration.tapped(by: tap, as: .bob, pings: pings))
    try await body(meeting, tap)
    await meeting.end()
    await tap.stop()
}
