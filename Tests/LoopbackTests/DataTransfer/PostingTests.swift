import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("Posting over loopback", .inTurns)
struct PostingTests {
    private static let message = [UInt8](repeating: 0, count: 1_048_576)

    @Test("posting never waits: up to a limit it is accepted, and arrives in order; beyond it is refused")
    func mark() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        var accepted = 0
        let refusal = fill(meeting.ann, meeting.bob, &accepted)
        #expect(refusal?.code == .full)
        // 64 MiB after the send queue's 4 MiB, and what the link has taken on credit before.
        #expect((68...73).contains(accepted))
        let count = accepted
        let received = try await within { await meeting.bob.events.messages(count) }
        #expect(received.map { MessageTests.number(of: $0) } == Array(0..<count))
        try meeting.ann.post([1], to: meeting.bob.peer, delivery: .reliable)
        #expect(try await within { await meeting.bob.events.firstMessage() } == [1])
        await meeting.end()
    }

    @Test("posted and sent messages share one order, and none overtakes those that wait")
    func order() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        var accepted = 0
        while accepted < 20 {
            try meeting.ann.post(Self.numbered(accepted), to: meeting.bob.peer, delivery: .reliable)
            accepted += 1
        }
        let sender = Task { try await meeting.ann.send(Self.numbered(20), to: meeting.bob.peer) }
        let received = try await within { await meeting.bob.events.messages(21) }
        try await sender.value
        #expect(received.map { MessageTests.number(of: $0) } == Array(0...20))
        await meeting.end()
    }

    @Test("messages posted before leaving are sent before the goodbye, or counted [msg.failed]")
    func undelivered() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        var accepted = 0
        _ = fill(meeting.ann, meeting.bob, &accepted)
        let count = accepted
        let leaving = Task { await meeting.ann.disconnect(within: .milliseconds(200)) }
        let reason = try #require(try await within { await meeting.ann.events.firstEnd() })
        await leaving.value
        // Bob has credit for 4 MiB and has taken nothing.
        #expect((count - 5...count).contains(reason.undelivered.messages))
        await meeting.bob.disconnect()
    }

    @Test("a message to several peers goes to all of them or, when one does not accept it, to none")
    func several() async throws {
        let (ann, others) = (try Member("ann"), try Member.several(2))
        for other in others {
            let (first, second) = await ann.join(other)
            try first.get()
            try second.get()
        }
        let stranger = try PeerID(displayName: "stranger")
        let peers = others.map(\.peer)
        #expect(throws: MultipeerError(.notConnected, "")) {
            try ann.session.post([1], to: peers + [stranger], delivery: .reliable)
        }
        #expect(throws: MultipeerError(.tooLarge, "")) {
            try ann.session.post(
                [UInt8](repeating: 0, count: Limits.maxMessage + 1), to: peers, delivery: .reliable)
        }
        var accepted = 0
        #expect(fill(ann.session, others[1].session, &accepted)?.code == .full)
        #expect(throws: MultipeerError(.full, "")) {
            try ann.session.post([2], to: peers, delivery: .reliable)
        }
        try ann.session.post([3], to: [peers[0]], delivery: .reliable)
        #expect(try await within { await others[0].session.events.firstMessage() } == [3])
        let count = accepted
        _ = try await within { await others[1].session.events.messages(count) }
        try ann.session.post([4], to: peers, delivery: .reliable)
        for other in others {
            #expect(try await within { await other.session.events.messages { $0 == [4] } } == [[4]])
        }
        await ([ann] + others).end()
    }

    @Test("unreliable messages are posted to several over UDP, and dropped when there is no room")
    func unreliable() async throws {
        let meeting = try Meeting()
        try await meeting.linkUp()
        let message = MessageTests.pattern(1_100)
        for _ in 0..<5_000 { try meeting.ann.post(message, to: [meeting.bob.peer], delivery: .unreliable) }
        let arrived = try await within { await meeting.bob.events.arrivals(1) }
        #expect(arrived.map(\.delivery) == [.unreliable])
        // One that is too long for a datagram takes the link.
        try meeting.ann.post(
            MessageTests.pattern(2_000), to: [meeting.bob.peer], delivery: .unreliable)
        let long = try await within {
            await meeting.bob.events.messages { $0.count == 2_000 }
        }
        #expect(long.last == MessageTests.pattern(2_000))
        let facts = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer)).datagrams
        #expect(facts.sent <= 5_000)
        await meeting.end()
    }

    @Test("posted from many threads at once, each message arrives once, each thread's in order")
    func threads() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let each = Sanitizer.fewer(2_000)
        let (ann, bob) = (meeting.ann, meeting.bob)
        async let arrived = within { await bob.events.messages(4 * each) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in UInt8(0)..<4 {
                group.addTask {
                    for number in 0..<each {
                        let message = [thread] + MessageTests.numbered(number)
                        if thread % 2 == 0 {
                            try ann.post(message, to: bob.peer, delivery: .reliable)
                        } else {
                            try await ann.send(message, to: bob.peer)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = try await arrived
        for thread in UInt8(0)..<4 {
            let own = all.filter { $0[0] == thread }.map { MessageTests.number(of: Array($0.dropFirst())) }
            #expect(own == Array(0..<each))
        }
        await meeting.end()
    }

    private static func numbered(_ number: Int) -> [UInt8] {
        MessageTests.numbered(number) + message.dropFirst(4)
    }

    /// Posts one mebibyte after another to a peer that does not read, until that is refused.
    private func fill(_ from: Session, _ to: Session, _ accepted: inout Int) -> MultipeerError? {
        while accepted < 1_000 {
            do throws(MultipeerError) {
                try from.post(Self.numbered(accepted), to: to.peer, delivery: .reliable)
                accepted += 1
            } catch {
                return error
            }
        }
        return nil
    }
}

extension MessageTests {
    static func number(of message: [UInt8]) -> Int {
        message.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
