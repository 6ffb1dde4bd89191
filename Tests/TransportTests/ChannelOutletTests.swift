import MultipeerCore
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 The writing end of a channel", .inTurns)
struct ChannelOutletTests {
    @Test("pieces go in order, FIN behind them, and nothing behind FIN [channel.fin]")
    func finish() async throws {
        let (outlet, sender, rings) = try Self.make()
        try await sender.write([1])
        try await sender.write([])
        try await sender.write([2])
        #expect(rings.all.count == 1)
        sender.finish(digest: [9])
        sender.finish()
        sender.abort()
        #expect(rings.all.count == 3)
        await #expect(throws: ChannelFault.finished) { try await sender.write([3]) }
        #expect(outlet.take().abort == .cancelled)
    }

    @Test("what was accepted goes with FIN, also when nobody had taken it")
    func accepted() async throws {
        let (outlet, sender, _) = try Self.make()
        try await sender.write([1])
        #expect(outlet.take().pieces == [[1]])
        try await sender.write([2])
        sender.finish(digest: [9])
        let work = outlet.take()
        #expect(work.pieces == [[2]])
        #expect(work.isFinished && work.digest == [9])
        #expect(outlet.take().isFinished == false)
        #expect(outlet.isFinished)
        await #expect(throws: ChannelFault.finished) { try await sender.write([3]) }
        outlet.wrote(pieces: 2, bytes: 2)
        #expect(sender.written == 2)
        outlet.settle(nil)
        #expect(await sender.outcome() == nil)
        sender.abort()
        #expect(outlet.take().abort == nil)
    }

    @Test("512 KiB are queued; then a writer waits until some are on their way [limit.outbox]")
    func limit() async throws {
        let (outlet, sender, _) = try Self.make()
        let piece = [UInt8](repeating: 0, count: 131_072)
        for _ in 0..<4 { try await sender.write(piece) }
        let waiting = Task { try await sender.write(piece) }
        let other = Task { try await sender.write(piece) }
        other.cancel()
        await #expect(throws: ChannelFault.cancelled) { try await other.value }
        #expect(outlet.take().pieces.count >= 4)
        outlet.wrote(pieces: 0, bytes: 100_000)
        outlet.wrote(pieces: 1, bytes: 31_072)
        try await waiting.value
        #expect(sender.written == 131_072)
    }

    @Test("the first outcome stays, and everybody who waits hears it")
    func outcome() async throws {
        let (outlet, sender, _) = try Self.make()
        let waiting = (0..<5).map { _ in Task { await sender.outcome() } }
        outlet.settle(.stopped(.busy))
        outlet.settle(.notLinked)
        sender.abort()
        for task in waiting { #expect(await task.value == .stopped(.busy)) }
        #expect(await sender.outcome() == .stopped(.busy))
        await #expect(throws: ChannelFault.stopped(.busy)) { try await sender.write([1]) }
        #expect(outlet.take().abort == nil)
    }

    @Test("whoever lets go of it unfinished gives it up; finished, it goes on")
    func lettingGo() async throws {
        func abandoned(_ use: @Sendable (ChannelSender) async throws -> Void) async throws
            -> ChannelOutlet.Work
        {
            let outlet = try await {
                let (outlet, sender, _) = try Self.make()
                try await use(sender)
                return outlet
            }()
            return outlet.take()
        }
        let open = try await abandoned { try await $0.write([1]) }
        #expect(open.abort == .cancelled && open.pieces.isEmpty)
        let finished = try await abandoned { sender in
            try await sender.write([1])
            sender.finish()
        }
        #expect(finished.abort == nil && finished.pieces == [[1]] && finished.isFinished)
    }

    @Test("what several threads write and finish and take at once is neither lost nor doubled")
    func race() async throws {
        for _ in 0..<200 {
            let (outlet, sender, _) = try Self.make()
            let accepted = Notes<UInt8>()
            async let first: Void = Self.write(0..<50, to: sender, accepted)
            async let second: Void = Self.write(100..<150, to: sender, accepted)
            async let end: Void = sender.finish()
            var taken: [UInt8] = []
            var isFinished = false
            while !isFinished {
                let work = outlet.take()
                taken += work.pieces.flatMap { $0 }
                isFinished = work.isFinished
                await Task.yield()
            }
            _ = await (first, second, end)
            #expect(taken.sorted() == accepted.all.sorted())
            #expect(outlet.take().pieces.isEmpty)
        }
    }

    @Test("opening waits for OPEN, or for the reason why it never goes")
    func beginning() async throws {
        let (outlet, sender, _) = try Self.make()
        outlet.begin()
        #expect(await outlet.beginning() == nil)
        sender.abort()
        let (other, otherSender, _) = try Self.make()
        other.settle(.notLinked)
        #expect(await other.beginning() == .notLinked)
        let (third, thirdSender, _) = try Self.make()
        let waiting = Task { await third.beginning() }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        #expect(third.take().abort == .cancelled)
        withExtendedLifetime((otherSender, thirdSender)) {}
    }

    private static func write(_ bytes: Range<UInt8>, to sender: ChannelSender, _ accepted: Notes<UInt8>) async
    {
        for byte in bytes {
            do { try await sender.write([byte]) } catch { return }
            accepted.append(byte)
        }
    }

    private static func make() throws -> (ChannelOutlet, ChannelSender, Notes<Void>) {
        let rings = Notes<Void>()
        let outlet = ChannelOutlet(ChannelOpening(kind: .stream, name: "x")) { rings.append(()) }
        return (outlet, ChannelSender(to: try PeerID.sample, outlet), rings)
    }
}
