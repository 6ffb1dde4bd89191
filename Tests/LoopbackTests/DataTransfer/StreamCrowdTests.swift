import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 Many streams over loopback", .inTurns(within: .seconds(480)))
struct StreamCrowdTests {
    @Test("63 stalled streams slow neither the 64th nor messages [channel.limit]")
    func stalled() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        var stalled: [(OutgoingStream, IncomingStream)] = []
        for _ in 0..<Sanitizer.fewer(63) {
            let (out, stream) = try await meeting.stream()
            _ = try await out.fill()
            stalled.append((out, stream))
        }
        let (out, stream) = try await meeting.stream()
        let bytes = MessageTests.pattern(2_000_000)
        let writer = Task {
            try await out.write(bytes)
            try await out.finish()
        }
        #expect(try await within { try await stream.all() } == bytes)
        try await within { try await writer.value }
        await meeting.expectMessages()
        // And they all go on.
        for (out, stream) in stalled {
            let reader = Task { try await stream.all().count }
            try await within { try await out.finish() }
            #expect(try await within { try await reader.value } == 524_288 + Limits.channelCredit)
        }
        await meeting.end()
    }

    @Test("the 65th stream waits until one of the 64 has ended [channel.limit]")
    func waiting() async throws {
        let meeting = try Meeting(bob: .loopback().with { $0.maximumStreams = 2 })
        try await meeting.link()
        let (first, firstRead) = try await meeting.stream("1")
        let (second, secondRead) = try await meeting.stream("2")
        let impatient = Task { try await meeting.ann.openStream(to: meeting.bob.peer, name: "impatient") }
        let patient = Task { try await meeting.ann.openStream(to: meeting.bob.peer, name: "patient") }
        await meeting.expectMessages()
        impatient.cancel()
        let result = await impatient.result
        #expect(throws: MultipeerError(.cancelled, "")) { try result.get() }
        try await within { try await first.finish() }
        let third = try await within { try await patient.value }
        let announced = try await within { try await meeting.bob.events.firstStream() }
        #expect(announced.name == "patient")
        // The other direction has places of its own, and more of them.
        let (back, backRead) = try await meeting.stream("back", from: meeting.bob, to: meeting.ann)
        for out in [second, third, back] { try await within { try await out.finish() } }
        for stream in [firstRead, secondRead, announced, backRead] {
            #expect(try await within { try await stream.all() } == [])
        }
        await meeting.end()
    }

    @Test("opening a stream that waits for a place fails when the link ends")
    func endedWhileWaiting() async throws {
        let meeting = try Meeting(bob: .loopback().with { $0.maximumStreams = 1 })
        try await meeting.link()
        let (first, stream) = try await meeting.stream()
        let waiting = Task { try await meeting.ann.openStream(to: meeting.bob.peer, name: "2") }
        await meeting.expectMessages()
        await meeting.bob.disconnect()
        let result = try await within { await waiting.result }
        #expect(throws: MultipeerError(.ended, "")) { try result.get() }
        #expect(try await within { await first.writingFailure() }?.code == .ended)
        #expect(try await within { await stream.ending() }.error != nil)
        await meeting.end()
    }

    @Test(
        "1,000 streams at once arrive whole, with a limit of all or of 64", arguments: [1_024, 64])
    func concurrent(places: Int) async throws {
        let configuration = Session.Configuration.loopback().with { $0.maximumStreams = places }
        let meeting = try Meeting(ann: configuration, bob: configuration)
        try await meeting.link()
        let count = Sanitizer.fewer(1_000)
        let readers = Task {
            try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
                for _ in 0..<count {
                    let stream = try await meeting.bob.events.firstStream()
                    group.addTask { (Int(stream.name) ?? -1, try await stream.all()) }
                }
                return try await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
            }
        }
        try await within(.seconds(120)) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let out = try await meeting.ann.openStream(
                            to: meeting.bob.peer, name: "\(number)")
                        for part in 0..<4 { try await out.write(Self.part(part, of: number)) }
                        try await out.finish()
                    }
                }
                try await group.waitForAll()
            }
        }
        let received = try await within(.seconds(120)) { try await readers.value }
        #expect(received.count == count)
        for (number, bytes) in received {
            #expect(bytes == (0..<4).flatMap { Self.part($0, of: number) })
        }
        await meeting.end()
    }

    @Test("10,000 streams one after the other arrive whole, in order [channel.number]")
    func sequential() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let count = Sanitizer.fewer(10_000)
        let reader = Task {
            for number in 0..<count {
                let stream = try await meeting.bob.events.firstStream()
                guard stream.name == "\(number)" else { throw Overdue() }
                guard try await stream.all() == MessageTests.numbered(number) else { throw Overdue() }
            }
        }
        try await within(.seconds(300)) {
            for number in 0..<count {
                let out = try await meeting.ann.openStream(to: meeting.bob.peer, name: "\(number)")
                try await out.write(MessageTests.numbered(number))
                try await out.finish()
            }
        }
        try await within(.seconds(120)) { try await reader.value }
        await meeting.end()
    }

    @Test("1,000 streams that are cancelled on either side do not affect the link [channel.reset-rate]")
    func givenUp() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let reader = Task {
            while true {
                let stream = try await meeting.bob.events.firstStream()
                if stream.name == "stop" { stream.abort() }
            }
        }
        for _ in 0..<Sanitizer.fewer(1_000) {
            let out = try await within {
                try await meeting.ann.openStream(to: meeting.bob.peer, name: "stop")
            }
            #expect(try await within { await out.writingFailure() }?.code == .cancelled)
        }
        for _ in 0..<Sanitizer.fewer(100) {
            let out = try await within {
                try await meeting.ann.openStream(to: meeting.bob.peer, name: "reset")
            }
            out.abort()
        }
        try await within { try await meeting.ann.waitUntilReceived(by: meeting.bob.peer) }
        reader.cancel()
        _ = await reader.result
        await meeting.expectMessages()
        await meeting.end()
    }

    @Test("a peer that does not read its stream does not slow another's")
    func slowPeer() async throws {
        let (ann, bob) = (try session("ann"), try session("bob"))
        let cara = try session("cara")
        for other in [bob, cara] {
            let (first, second) = (try await ann.connectionData(), try await other.connectionData())
            async let there: Void = ann.connect(with: second)
            async let back: Void = other.connect(with: first)
            _ = try await (there, back)
        }
        let slow = try await ann.openStream(to: bob.peer, name: "slow")
        _ = try await slow.fill()
        let waiting = Task { try await slow.write([UInt8](repeating: 1, count: 600_000)) }
        let fast = try await ann.openStream(to: cara.peer, name: "fast")
        let bytes = MessageTests.pattern(4_000_000)
        let reader = Task { try await cara.events.firstStream().all() }
        try await within {
            try await fast.write(bytes)
            try await fast.finish()
        }
        #expect(try await within { try await reader.value } == bytes)
        waiting.cancel()
        _ = await waiting.result
        for session in [ann, bob, cara] { await session.disconnect(within: .zero) }
    }

    private func session(_ name: String) throws -> Session {
        try Session(peer: PeerID(displayName: name), configuration: .loopback())
    }

    private static func part(_ part: Int, of number: Int) -> [UInt8] {
        [UInt8](
            repeating: UInt8(truncatingIfNeeded: number &+ part), count: 500 + (number * 7 + part) % 3_000)
    }
}
