import Multipeer
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 How streams end over loopback", .inTurns)
struct StreamEndTests {
    @Test("a writer's abort is received at once, with its reason, even before unread data")
    func abortByWriter() async throws { try await atOnce(Self.timeOfWritersAbort) }

    @Test("a reader's abort reaches a waiting writer at once, with its reason [channel.stop]")
    func abortByReader() async throws { try await atOnce(Self.timeOfReadersAbort) }

    /// Repeats what a busy machine may delay until it takes less time than anything that happens without it: a PING is sent
    /// after three seconds.
    private func atOnce(_ action: @escaping @Sendable () async throws -> Duration) async throws {
        try await within { while try await action() > .seconds(2) {} }
    }

    private static func timeOfWritersAbort() async throws -> Duration {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        _ = try await out.fill()
        let start = ContinuousClock.now
        out.abort(.timeout)
        out.abort(.internal)
        await #expect(throws: MultipeerError(.cancelled, "")) { try await out.write([1]) }
        await #expect(throws: MultipeerError(.cancelled, "")) { try await out.finish() }
        let (_, error) = try await within { await stream.ending() }
        let passed = ContinuousClock.now - start
        #expect(error?.code == .aborted)
        #expect(error?.closeCode == .timeout)
        #expect(try await within { await stream.ending() }.error == error)
        await meeting.expectMessages()
        await meeting.end()
        return passed
    }

    private static func timeOfReadersAbort() async throws -> Duration {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        let writer = Task { await out.writingFailure() }
        _ = try await within { try await stream.piece() }
        let start = ContinuousClock.now
        stream.abort(.noSpace)
        stream.abort(.internal)
        let error = try await within { await writer.value }
        let passed = ContinuousClock.now - start
        #expect(error?.code == .noSpace)
        #expect(error?.closeCode == .noSpace)
        await #expect(throws: MultipeerError(.noSpace, "")) { try await out.finish() }
        await #expect(throws: MultipeerError(.cancelled, "")) { try await stream.piece() }
        await meeting.expectMessages()
        await meeting.end()
        return passed
    }

    @Test("a writer that writes nothing can wait for the end, too", arguments: [true, false])
    func failure(_ aborts: Bool) async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        async let failure = within { await out.failure() }
        if aborts { stream.abort() } else { try await out.finish() }
        let ending = try await failure
        #expect(ending?.code == (aborts ? .cancelled : nil))
        await meeting.end()
    }

    @Test("both abort at once, and the link stays [channel.closed]")
    func bothAbort() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        for round in 0..<40 {
            let (out, stream) = try await meeting.stream()
            if round % 2 == 0 { try await out.write([1]) }
            async let first: Void = out.abort()
            async let second: Void = stream.abort()
            _ = await (first, second)
        }
        await meeting.expectMessages()
        await meeting.end()
    }

    @Test("releasing a stream cancels it; releasing one that was never read declines it")
    func lettingGo() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        do {
            let stream = try await abandonedByWriter(meeting)
            #expect(try await within { await stream.ending() }.error?.code == .cancelled)
        }
        do {
            let out = try await within {
                try await meeting.ann.openStream(to: meeting.bob.peer, name: "nobody wants it")
            }
            try await within { try await Self.drop(meeting.bob.events) }
            #expect(try await within { await out.writingFailure() }?.code == .declined)
        }
        let (out, stream) = try await meeting.stream()
        let writer = Task { await out.writingFailure() }
        try await within { try await Self.readOnce(stream) }
        stream.abort()
        #expect(try await within { await writer.value }?.code == .cancelled)
        await meeting.end()
    }

    @Test("the end of the link fails every writer and reader, in the same way each time [close.after]")
    func endOfLink() async throws {
        try await withTaps { annsTap, bobsTap in
            let meeting = try Meeting(
                ann: .loopback().tapped(by: annsTap), bob: .loopback().tapped(by: bobsTap))
            try await meeting.link()
            try await within { try await meeting.expectTalk() }
            var writers: [Task<MultipeerError?, Never>] = []
            var readers: [Task<MultipeerError?, Never>] = []
            var idle: [OutgoingStream] = []
            for number in 0..<20 {
                let (out, stream) = try await meeting.stream()
                if number % 2 == 0 {
                    writers.append(Task { await out.writingFailure() })
                    // Held and not read.
                    readers.append(
                        Task { [stream] in
                            while let _ = try? await stream.piece() {}
                            return await stream.ending().error
                        })
                } else {
                    idle.append(out)
                    readers.append(Task { await stream.ending().error })
                }
            }
            await annsTap.cutAll()
            await bobsTap.cutAll()
            for task in writers + readers {
                let error = try await within { await task.value }
                #expect(error?.code == .ended)
                #expect(error?.reason != nil)
            }
            for out in idle {
                let error = try await within { await out.writingFailure() }
                #expect(error?.code == .ended)
                #expect(try await within { await out.writingFailure() } == error)
            }
            await #expect(throws: MultipeerError.self) {
                try await meeting.ann.openStream(to: meeting.bob.peer, name: "too late")
            }
            await meeting.end()
        }
    }

    @Test("leaving sends finished streams, and the rest ends with the link [close.goodbye]")
    func leaving() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (finished, whole) = try await meeting.stream()
        let (open, broken) = try await meeting.stream()
        let bytes = MessageTests.pattern(1_500_000)
        let reader = Task { try await whole.all() }
        try await open.write([1, 2, 3])
        let writer = Task {
            try await finished.write(bytes)
            try await finished.finish()
        }
        try await within { try await writer.value }
        await meeting.ann.disconnect(within: .seconds(20))
        #expect(try await within { try await reader.value } == bytes)
        let (_, error) = try await within { await broken.ending() }
        #expect(error?.code == .ended)
        #expect(try await within { await open.writingFailure() }?.code == .ended)
        await meeting.bob.disconnect()
    }

    @Test("a finished stream that is not yet written when the session is left is still sent [close.goodbye]")
    func leavingWithBacklog() async throws {
        let meeting = try Meeting()
        try await meeting.link()
        let (out, stream) = try await meeting.stream()
        let bytes = MessageTests.pattern(1_500_000)
        try await out.write(bytes)
        let finishing = Task.immediate { try await out.finish() }
        let reader = Task { try await stream.all() }
        await meeting.ann.disconnect(within: .seconds(20))
        try await within { try await finishing.value }
        #expect(try await within { try await reader.value } == bytes)
        await meeting.bob.disconnect()
    }

    private func abandonedByWriter(_ meeting: Meeting) async throws -> IncomingStream {
        let (out, stream) = try await meeting.stream()
        try await out.write([1])
        return stream
    }

    private static func drop(_ events: Session.Events) async throws { _ = try await events.firstStream() }

    private static func readOnce(_ stream: IncomingStream) async throws { _ = try await stream.piece() }
}

extension Meeting {
    /// The link lives: a message passes each way.
    func expectMessages() async {
        for (from, to) in [(ann, bob), (bob, ann)] {
            await #expect(throws: Never.self) {
                try await from.send([42], to: to.peer)
                #expect(try await within { await to.events.firstMessage() } == [42])
            }
        }
    }
}
