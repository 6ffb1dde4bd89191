import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 The writing end of a channel", .inTurns)
struct ChannelSendQueueTests {
    @Test("pieces are sent in order, then FIN, and nothing after FIN [channel.fin]")
    func finish() async throws {
        let (sendQueue, sender, wakeups) = try Self.make()
        try await sender.write([1])
        try await sender.write([])
        try await sender.write([2])
        #expect(wakeups.all.count == 1)
        sender.finish(digest: [9])
        sender.finish()
        sender.abort()
        #expect(wakeups.all.count == 3)
        await #expect(throws: ChannelFault.finished) { try await sender.write([3]) }
        #expect(sendQueue.take().abort == .cancelled)
    }

    @Test("accepted data is sent with FIN, even when none of it was taken before")
    func accepted() async throws {
        let (sendQueue, sender, _) = try Self.make()
        try await sender.write([1])
        #expect(sendQueue.take().pieces == [[1]])
        try await sender.write([2])
        sender.finish(digest: [9])
        let work = sendQueue.take()
        #expect(work.pieces == [[2]])
        #expect(work.isFinished && work.digest == [9])
        #expect(sendQueue.take().isFinished == false)
        #expect(sendQueue.isFinished)
        await #expect(throws: ChannelFault.finished) { try await sender.write([3]) }
        sendQueue.wrote(bytes: 2)
        #expect(sender.written == 2)
        sendQueue.settle(nil)
        #expect(await sender.outcome() == nil)
        sender.abort()
        #expect(sendQueue.take().abort == nil)
    }

    @Test("512 KiB are queued; then a writer waits until some are sent [limit.send-queue]")
    func limit() async throws {
        let (sendQueue, sender, _) = try Self.make()
        let piece = [UInt8](repeating: 0, count: 131_072)
        for _ in 0..<4 { try await sender.write(piece) }
        let waiting = Task { try await sender.write(piece) }
        let other = Task { try await sender.write(piece) }
        other.cancel()
        await #expect(throws: ChannelFault.cancelled) { try await other.value }
        #expect(sendQueue.take().pieces.count >= 4)
        sendQueue.wrote(bytes: 131_072)
        sendQueue.released(pieces: 0, bytes: 100_000)
        sendQueue.released(pieces: 1, bytes: 31_072)
        try await waiting.value
        #expect(sender.written == 131_072)
    }

    @Test("the first outcome is kept, and every waiting task receives it")
    func outcome() async throws {
        let (sendQueue, sender, _) = try Self.make()
        let waiting = (0..<5).map { _ in Task { await sender.outcome() } }
        sendQueue.settle(.stopped(.busy))
        sendQueue.settle(.notLinked)
        sender.abort()
        for task in waiting { #expect(await task.value == .stopped(.busy)) }
        #expect(await sender.outcome() == .stopped(.busy))
        await #expect(throws: ChannelFault.stopped(.busy)) { try await sender.write([1]) }
        #expect(sendQueue.take().abort == nil)
    }

    @Test("releasing an unfinished sender cancels the channel; a finished one continues")
    func lettingGo() async throws {
        func abandoned(_ use: @Sendable (ChannelSender) async throws -> Void) async throws
            -> ChannelSendQueue.Work
        {
            let sendQueue = try await {
                let (sendQueue, sender, _) = try Self.make()
                try await use(sender)
                return sendQueue
            }()
            return sendQueue.take()
        }
        let open = try await abandoned { try await $0.write([1]) }
        #expect(open.abort == .cancelled && open.pieces.isEmpty)
        let finished = try await abandoned { sender in
            try await sender.write([1])
            sender.finish()
        }
        #expect(finished.abort == nil && finished.pieces == [[1]] && finished.isFinished)
    }

    @Test("concurrent writes, finishes and takes neither lose nor duplicate data")
    func race() async throws {
        for _ in 0..<200 {
            let (sendQueue, sender, _) = try Self.make()
            let accepted = Notes<UInt8>()
            async let first: Void = Self.write(0..<50, to: sender, accepted)
            async let second: Void = Self.write(100..<150, to: sender, accepted)
            async let end: Void = sender.finish()
            var taken: [UInt8] = []
            var isFinished = false
            while !isFinished {
                let work = sendQueue.take()
                taken += work.pieces.flatMap { $0 }
                isFinished = work.isFinished
                await Task.yield()
            }
            _ = await (first, second, end)
            #expect(taken.sorted() == accepted.all.sorted())
            #expect(sendQueue.take().pieces.isEmpty)
        }
    }

    @Test("opening waits for OPEN, or for the reason why it is never sent")
    func beginning() async throws {
        let (sendQueue, sender, _) = try Self.make()
        sendQueue.begin()
        #expect(await sendQueue.beginning() == nil)
        sender.abort()
        let (other, otherSender, _) = try Self.make()
        other.settle(.notLinked)
        #expect(await other.beginning() == .notLinked)
        let (third, thirdSender, _) = try Self.make()
        let waiting = Task { await third.beginning() }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(third.take().abort == .cancelled)
        let begun = Notes<ChannelFault?>()
        let (fourth, fourthSender, _) = try Self.make()
        fourth.whenBegun { begun.append($0) }
        #expect(begun.all.isEmpty)
        fourth.begin()
        fourth.settle(.cancelled)
        #expect(begun.all == [nil])
        withExtendedLifetime((otherSender, thirdSender, fourthSender)) {}
    }

    private static func write(_ bytes: Range<UInt8>, to sender: ChannelSender, _ accepted: Notes<UInt8>) async
    {
        for byte in bytes {
            do { try await sender.write([byte]) } catch { return }
            accepted.append(byte)
        }
    }

    private static func make() throws -> (ChannelSendQueue, ChannelSender, Notes<Void>) {
        let wakeups = Notes<Void>()
        let sendQueue = ChannelSendQueue(ChannelOpening(kind: .stream, name: "x")) { wakeups.append(()) }
        return (sendQueue, ChannelSender(to: try PeerID.sample, sendQueue), wakeups)
    }
}
