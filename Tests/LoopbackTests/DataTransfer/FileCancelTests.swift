import Foundation
import Multipeer
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9.4 Cancelled files", .inTurns)
struct FileCancelTests {
    enum Side: CaseIterable { case sender, receiver, receiversTask }

    @Test(
        "either side can cancel at any moment: the other is notified, and no file is left [resource.cancel]",
        arguments: Side.allCases, [0, 1, 300_000, 3_000_000])
    func cancel(_ side: Side, after count: UInt64) async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        let resource = try await files.offered()
        let receiving = Task { await files.receive(resource) }
        await moved(resource, count)
        let start = ContinuousClock.now
        switch side {
        case .sender: sending.cancel()
        case .receiver: resource.cancel()
        case .receiversTask: receiving.cancel()
        }
        // Both are notified once, and later requests get the same result.
        for _ in 0..<2 {
            #expect(try await sending.end()?.code == .cancelled)
            #expect(try await within { await receiving.value }.code == .cancelled)
        }
        #expect(ContinuousClock.now - start < .seconds(10))
        sending.cancel()
        resource.cancel()
        for await last in sending.progress { #expect(last.fractionCompleted.map { $0 < 1 } == true) }
        try await files.expectLife()
        await files.end()
    }

    @Test("an offer that is declined or released is DECLINED to the sender", arguments: [true, false])
    func declined(_ isAsked: Bool) async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        do {
            let resource = try await files.offered()
            if isAsked { resource.decline() }
            if isAsked { #expect(await files.receive(resource).code == .declined) }
        }
        #expect(try await sending.end()?.code == .declined)
        try await files.expectLife()
        await files.end()
    }

    @Test("an offer that is cancelled before it is received cannot be received [resource.cancel]")
    func early() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        let resource = try await files.offered()
        sending.cancel()
        #expect(try await sending.end()?.code == .cancelled)
        #expect(await files.receive(resource).code == .cancelled)
        try await files.expectLife()
        await files.end()
    }

    @Test("the end of an offer that is not received yet is noticed, and so is that of one that is")
    func ended() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.endless(), to: files.bob.peer)
        let resource = try await files.offered()
        async let ended = resource.waitUntilEnded()
        sending.cancel()
        #expect(try await within { await resource.waitUntilEnded() }?.code == .cancelled)
        #expect(await ended?.code == .cancelled)

        _ = try await files.ann.send(file: try files.file([1]), to: files.bob.peer)
        let other = try await files.offered()
        let waiting = Task { await other.waitUntilEnded() }
        let arrived = try await files.receive(other).get()
        #expect(try await within { await waiting.value } == nil)
        try FileManager.default.removeItem(at: arrived.url)

        _ = try await files.ann.send(file: try files.endless("another"), to: files.bob.peer)
        let last = try await files.offered()
        let cancelled = Task { await last.waitUntilEnded() }
        cancelled.cancel()
        #expect(try await within { await cancelled.value } == nil)
        last.decline()
        #expect(try await within { await last.waitUntilEnded() } != nil)
        await files.end()
    }

    @Test("a transfer that has ended cannot be cancelled, by either side")
    func late() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.file([1]), to: files.bob.peer)
        let resource = try await files.offered()
        let file = try await files.receive(resource).get()
        resource.cancel()
        resource.decline()
        #expect(try await sending.end() == nil)
        sending.cancel()
        #expect(try await sending.end() == nil)
        #expect(files.bobs.names == [file.url.lastPathComponent])
        try await files.expectLife(1)
        await files.end()
    }

    @Test(
        "when a transfer is cancelled as it ends, both agree, or only the receiver has it [resource.cancel]",
        arguments: 0..<Sanitizer.fewer(30))
    func race(_ round: Int) async throws {
        let files = try await FileMeeting()
        var seed = Seeded(UInt64(round))
        let sending = try await files.ann.send(file: try files.file(seed.bytes(50_000)), to: files.bob.peer)
        let resource = try await files.offered()
        let receiving = Task { await files.receive(resource) }
        for _ in 0..<Int.random(in: 0..<400, using: &seed) { await Task.yield() }
        if round % 2 == 0 { sending.cancel() } else { resource.cancel() }
        let received = try await within { await receiving.value }
        let end = try await sending.end()
        switch received {
        case .success:
            // A sender that gives up cannot know that the file was closed meanwhile.
            #expect(end == nil || round % 2 == 0 && end?.code == .cancelled)
            #expect(files.bobs.names.count == 1)
        case .failure(let error):
            #expect(error.code == .cancelled)
            #expect(end?.code == .cancelled)
            #expect(files.bobs.names == [])
        }
        await files.end()
    }

    @Test("two hundred random cancellations: each transfer ends once on both sides, and no file is left")
    func crowd() async throws {
        let files = try await FileMeeting()
        let url = try files.endless()
        var seed = Seeded(11)
        for _ in 0..<Sanitizer.fewer(13) {
            var sendings: [OutgoingResource] = []
            var receivings: [(IncomingResource, Task<Result<IncomingResource.File, MultipeerError>, Never>)] =
                []
            for _ in 0..<16 {
                sendings.append(try await files.ann.send(file: url, to: files.bob.peer))
                let resource = try await files.offered()
                receivings.append((resource, Task { await files.receive(resource) }))
            }
            for (sending, receiving) in zip(sendings, receivings) {
                for _ in 0..<Int.random(in: 0..<50, using: &seed) { await Task.yield() }
                if Bool.random(using: &seed) { sending.cancel() } else { receiving.0.cancel() }
            }
            for (sending, receiving) in zip(sendings, receivings) {
                #expect(try await sending.end()?.code == .cancelled)
                #expect(try await within { await receiving.1.value }.code == .cancelled)
            }
        }
        // The tasks that read are notified, and end when they get to it.
        try await within { while !files.openFiles.isEmpty { await Task.yield() } }
        try await files.expectLife()
        await files.end()
    }

    @Test("waiting for the end can be cancelled without cancelling the transfer")
    func waiting() async throws {
        let files = try await FileMeeting()
        let sending = try await files.ann.send(file: try files.file([4]), to: files.bob.peer)
        let resource = try await files.offered()
        let waiting = Task { () async -> MultipeerError? in
            do throws(MultipeerError) { try await sending.waitUntilReceived() } catch { return error }
            return nil
        }
        waiting.cancel()
        #expect(await waiting.value?.code == .cancelled)
        _ = try await files.receive(resource).get()
        #expect(try await sending.end() == nil)
        await files.end()
    }
}

@Suite("9.4 Dishonest senders", .inTurns)
struct LyingSenderTests {
    @Test(
        "files with more, fewer or other bytes than announced are removed [resource.size] [resource.digest]",
        arguments: [
            Lie(size: 10, bytes: 11), Lie(size: 10, bytes: 9), Lie(size: 0, bytes: 1), Lie(size: 1, bytes: 0),
            Lie(size: 10, bytes: 1_000_000), Lie(size: nil, bytes: 10, digest: 1),
            Lie(size: 10, bytes: 10, digest: 1), Lie(size: .max, bytes: 5, isHuge: true),
        ])
    func lies(_ lie: Lie) async throws {
        let files = try await FileMeeting()
        let opening = ChannelOpening(kind: .resource, name: "lie", size: lie.size)
        let sender = try await files.ann.driver.open(opening, to: files.bob.peer.uid)
        let sending = Task {
            if lie.bytes > 0 { try? await sender.write([UInt8](repeating: 1, count: lie.bytes)) }
            sender.finish(digest: lie.digest.map { [UInt8](repeating: $0, count: 32) })
            return await sender.outcome()
        }
        let received = await files.receive(try await files.offered())
        #expect(received.code == (lie.isHuge ? .noSpace : .damaged))
        #expect(try await within { await sending.value } == .stopped(lie.isHuge ? .noSpace : .digest))
        try await files.expectLife()
        await files.end()
    }

    struct Lie: Sendable {
        var size: UInt64?
        var bytes: Int
        var digest: UInt8?
        var isHuge = false
    }
}
