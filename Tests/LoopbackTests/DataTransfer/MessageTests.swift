import Multipeer
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("8 Messages over loopback", .inTurns)
struct MessageTests {
    @Test("messages of every size arrive as they were sent, in order [msg.empty] [msg.order]")
    func sizes() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let sizes = [0, 1, 65_536 - 8, 65_536, 65_537, 0, 4 * 1_048_576, 16 * 1_048_576, 3]
        for (from, to) in [(meeting.ann, meeting.bob), (meeting.bob, meeting.ann)] {
            async let sent: Void = {
                for size in sizes { try await from.send(Self.pattern(size), to: to.peer) }
            }()
            let received = try await within { await to.events.messages(sizes.count) }
            try await sent
            #expect(received.map(\.count) == sizes)
            for message in received { #expect(message == Self.pattern(message.count)) }
        }
        await meeting.end()
    }

    @Test("a message longer than the peer accepts is refused before any of it is sent [msg.local-limit]")
    func tooLarge() async throws {
        let meeting = try Meeting(
            bob: .loopback().with { $0.maximumMessageSize = 65_536 })
        try await meeting.link()
        await #expect(throws: MultipeerError(.tooLarge, "")) {
            try await meeting.bob.send([UInt8](repeating: 0, count: 16 * 1_048_576 + 1), to: meeting.ann.peer)
        }
        await #expect(throws: MultipeerError(.tooLarge, "")) {
            try await meeting.ann.send([UInt8](repeating: 0, count: 65_537), to: meeting.bob.peer)
        }
        try await meeting.ann.send([UInt8](repeating: 0, count: 65_536), to: meeting.bob.peer)
        #expect(try await within { await meeting.bob.events.firstMessage() }?.count == 65_536)
        await meeting.end()
    }

    @Test(
        "10,000 numbered messages go both ways at once, each once and in order [msg.order] [msg.credit-return]"
    )
    func numbered() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let numbers = Array(0..<Sanitizer.fewer(10_000))
        @Sendable func send(_ from: Session, _ to: Session) async throws {
            for number in numbers { try await from.send(Self.numbered(number), to: to.peer) }
        }
        async let first: Void = send(meeting.ann, meeting.bob)
        async let second: Void = send(meeting.bob, meeting.ann)
        async let bobs = meeting.bob.events.messages(numbers.count)
        async let anns = meeting.ann.events.messages(numbers.count)
        let (atBob, atAnn) = await (bobs, anns)
        _ = try await (first, second)
        let expected = numbers.map(Self.numbered)
        #expect(atBob == expected)
        #expect(atAnn == expected)
        await meeting.end()
    }

    @Test("a slow reader holds the sender back, and nothing is lost [msg.credit-limit] [limit.send-queue]")
    func slowReader() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let counter = Counter()
        let sender = Task {
            for number in 0..<400 {
                try await meeting.ann.send(
                    Self.numbered(number) + Self.long(0).dropFirst(4), to: meeting.bob.peer)
                counter.add()
            }
        }
        try await within { await counter.reaches(Self.room) }
        // Bob's own messages pass all the while: each round trip gives the sender time to do something wrong.
        for _ in 0..<50 {
            try await meeting.bob.send([1], to: meeting.ann.peer)
            _ = try await within { await meeting.ann.events.firstMessage() }
        }
        #expect(counter.count == Self.room)
        let facts = try #require(await meeting.ann.connectionInfo(for: meeting.bob.peer))
        #expect(facts.statistics.bytesSent <= 4 * 1_048_576)
        let received = try await within { await meeting.bob.events.messages(400) }
        #expect(received.map { Array($0.prefix(4)) } == (0..<400).map(Self.numbered))
        try await sender.value
        await meeting.end()
    }

    @Test("a waiting sender can be cancelled: its message is not sent, and the others are")
    func cancelled() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        try await fill(meeting)
        let waiting = Task { try await meeting.ann.send(Self.long(6), to: meeting.bob.peer) }
        waiting.cancel()
        let result = await waiting.result
        #expect(throws: MultipeerError(.cancelled, "")) { try result.get() }
        let last = Task { try await meeting.ann.send(Self.long(7), to: meeting.bob.peer) }
        let received = try await within { await meeting.bob.events.messages { $0.first == 7 } }
        #expect(received.count { $0.first == 6 } == 0)
        try await last.value
        await meeting.end()
    }

    @Test("a waiting sender fails when the link ends, with the reason [msg.failed]")
    func endedWhileWaiting() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            try await fill(meeting)
            let waiting = Task { try await meeting.ann.send(Self.long(6), to: meeting.bob.peer) }
            await annsTap.cutAll()
            await bobsTap.cutAll()
            let error = try await within { () -> MultipeerError? in
                do { try await waiting.value } catch { return error as? MultipeerError }
                return nil
            }
            #expect(error?.code == .ended || error?.code == .notConnected)
            if error?.code == .ended { #expect(error?.reason?.code == .lost) }
            await meeting.end()
        }
    }

    @Test("sending to a peer that is not linked is an error")
    func notLinked() async throws {
        let meeting = try Meeting()
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await meeting.ann.send([1], to: meeting.bob.peer)
        }
        try await meeting.link()
        await meeting.ann.disconnect()
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await meeting.ann.send([1], to: meeting.bob.peer)
        }
        #expect(try await within { await meeting.bob.events.firstEnd() }?.code == .goodbye)
        await #expect(throws: MultipeerError(.notConnected, "")) {
            try await meeting.bob.send([1], to: meeting.ann.peer)
        }
        await meeting.bob.disconnect()
    }

    @Test("messages sent before leaving arrive before the goodbye [close.goodbye] [close.answer]")
    func goodbye() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        for number in 0..<200 { try await meeting.ann.send(Self.numbered(number), to: meeting.bob.peer) }
        await meeting.ann.disconnect()
        let received = try await within { await meeting.bob.events.messages(200) }
        #expect(received == (0..<200).map(Self.numbered))
        #expect(try await within { await meeting.bob.events.firstEnd() }?.code == .goodbye)
        await meeting.bob.disconnect()
    }

    @Test("flush returns when the peer has received everything, and throws when the link ends first")
    func flush() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        for number in 0..<100 { try await meeting.ann.send(Self.numbered(number), to: meeting.bob.peer) }
        try await within { try await meeting.ann.waitUntilReceived(by: meeting.bob.peer) }
        let facts = try #require(await meeting.bob.connectionInfo(for: meeting.ann.peer))
        #expect(facts.statistics.messagesReceived == 100)
        try await fill(meeting)
        let flushing = Task { try await meeting.ann.waitUntilReceived(by: meeting.bob.peer) }
        await meeting.bob.disconnect(within: .zero)
        _ = try await within { await flushing.result }
        await #expect(throws: MultipeerError.self) { try await flushing.value }
        await meeting.end()
    }

    /// Sends from ann to bob, who does not read, until a message would have to wait.
    private func fill(_ meeting: Meeting) async throws {
        let counter = Counter()
        let filler = Task {
            while true {
                try await meeting.ann.send(Self.long(0), to: meeting.bob.peer)
                counter.add()
            }
        }
        try await within { await counter.reaches(Self.room) }
        filler.cancel()
        _ = await filler.result
    }

    static func pattern(_ count: Int) -> [UInt8] {
        let block = (0..<251).map { UInt8($0) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + block.count)
        while bytes.count < count { bytes += block }
        return Array(bytes.prefix(count))
    }

    /// So long that it finds no room in a full outbox.
    static func long(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 65_000) }

    /// The number of these that are accepted without a reader: the credit's and the send queue's.
    static let room = Limits.messageCredit / (65_000 + Limits.messageOverhead) + 4 * 1_048_576 / 65_000

    static func numbered(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}

/// A counter on which a test can wait for a count.
final class Counter: Sendable {
    private struct State {
        var count = 0
        var awaited: [(Int, Promise<Void>)] = []
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.count } }

    func add() {
        let met = state.withLock { state in
            state.count += 1
            let met = state.awaited.filter { $0.0 <= state.count }.map(\.1)
            state.awaited.removeAll { $0.0 <= state.count }
            return met
        }
        for signal in met { signal.send(()) }
    }

    func reaches(_ count: Int) async {
        let signal = Promise<Void>()
        let isThere = state.withLock { state in
            if state.count >= count { return true }
            state.awaited.append((count, signal))
            return false
        }
        if !isThere { await signal.value(onCancel: { signal.send(()) }) }
    }
}

extension Session.Events {
    func messages(_ count: Int) async -> [[UInt8]] {
        var messages: [[UInt8]] = []
        if count == 0 { return [] }
        for await event in self {
            guard case .message(let message) = event else { continue }
            messages.append(message.bytes)
            if messages.count == count { break }
        }
        return messages
    }

    /// Up to the first for which the condition holds.
    func messages(until isLast: ([UInt8]) -> Bool) async -> [[UInt8]] {
        var messages: [[UInt8]] = []
        for await event in self {
            guard case .message(let message) = event else { continue }
            messages.append(message.bytes)
            if isLast(message.bytes) { break }
        }
        return messages
    }
}
