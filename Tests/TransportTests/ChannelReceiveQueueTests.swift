import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerTransport
import TestSupport
import Testing

@Suite("9 The reading end of a channel", .inTurns)
struct ChannelReceiveQueueTests {
    @Test("pieces arrive in order; read data is credited when more is requested [channel.credit-return]")
    func credit() async throws {
        let (receiveQueue, receiver, wakeups) = try Self.make(.stream)
        for number in UInt8(0)..<4 { receiveQueue.deliver([UInt8](repeating: number, count: 12_000)) }
        #expect(try await receiver.next()?.map(\.first) == [0, 1, 2, 3])
        #expect(wakeups.all.isEmpty)
        #expect(receiveQueue.take() == .init())
        receiveQueue.deliver([9])
        #expect(try await receiver.nextPiece() == [9])
        #expect(wakeups.all.count == 1)
        #expect(receiveQueue.take() == .init(consumed: 48_000))
        receiveQueue.end(.finished(digest: [7]))
        #expect(try await receiver.next() == nil)
        #expect(wakeups.all.count == 2)
        #expect(receiveQueue.take() == .init(consumed: 1, isDrained: true))
        #expect(try await receiver.next() == nil)
        #expect(receiver.digest == [7])
        #expect(receiver.received == 48_001)
    }

    @Test("small reads do not cause wakeups of their own")
    func steps() async throws {
        let (receiveQueue, receiver, wakeups) = try Self.make()
        for _ in 0..<100 {
            receiveQueue.deliver([UInt8](repeating: 0, count: 1_000))
            _ = try await receiver.nextPiece()
        }
        #expect(wakeups.all.count >= 1)
        #expect(receiveQueue.take().consumed == 99_000)
    }

    @Test("bytes that arrive slowly share an array, which is not one that was handed out")
    func trickle() async throws {
        let (receiveQueue, receiver, _) = try Self.make()
        for _ in 0..<20_000 { receiveQueue.deliver([1]) }
        #expect(try await receiver.nextPiece()?.count == Limits.channelPiece)
        receiveQueue.deliver([2])
        #expect(try await receiver.next()?.map(\.count) == [20_001 - Limits.channelPiece])
        receiveQueue.deliver([3])
        #expect(try await receiver.next() == [[3]])
    }

    @Test("one piece at a time loses nothing between two batches")
    func pieces() async throws {
        let (receiveQueue, receiver, _) = try Self.make()
        var received: [UInt8] = []
        for number in UInt8(0)..<100 {
            receiveQueue.deliver([number])
            guard number % 3 == 0 else { continue }
            if let piece = try await receiver.nextPiece() { received += piece }
        }
        receiveQueue.end(.finished(digest: nil))
        while let piece = try await receiver.nextPiece() { received += piece }
        #expect(received == Array(0..<100))
    }

    @Test("the end of the link comes after queued data, a RESET before it [channel.late]")
    func failures() async throws {
        let (receiveQueue, receiver, _) = try Self.make()
        receiveQueue.deliver([1])
        receiveQueue.end(.failed(.notLinked))
        receiveQueue.end(.finished(digest: nil))
        #expect(try await receiver.next() == [[1]])
        for _ in 0..<2 {
            await #expect(throws: ChannelFault.notLinked) { try await receiver.next() }
        }
        let (other, reset, _) = try Self.make()
        other.deliver([1])
        other.end(.finished(digest: nil))
        other.fail(.reset(.cancelled))
        other.fail(.reset(.internal))
        await #expect(throws: ChannelFault.reset(.cancelled)) { try await reset.next() }
        #expect(other.take() == .init(consumed: 1, isDrained: true))
    }

    @Test("STOP is requested once; later data counts as read [channel.late]")
    func stop() async throws {
        let (receiveQueue, receiver, wakeups) = try Self.make()
        receiveQueue.deliver([1, 2, 3])
        receiver.stop(.noSpace)
        receiver.stop(.cancelled)
        receiver.done()
        #expect(wakeups.all.count == 1)
        receiveQueue.deliver([4])
        #expect(receiveQueue.take() == .init(consumed: 4, stop: .noSpace, isDrained: true))
        await #expect(throws: ChannelFault.cancelled) { try await receiver.next() }
    }

    @Test("a resource that arrived whole is answered once [resource.done]")
    func done() async throws {
        let (receiveQueue, receiver, wakeups) = try Self.make()
        receiver.done()
        #expect(wakeups.all.isEmpty)
        receiveQueue.end(.finished(digest: nil))
        #expect(try await receiver.next() == nil)
        receiver.done()
        receiver.done(.digest)
        receiver.stop()
        #expect(receiveQueue.take() == .init(done: .ok, isDrained: true))
        #expect(wakeups.all.count == 1)
    }

    @Test(
        "the last bytes of a resource are reported with its DONE or STOP, in one wakeup",
        arguments: [true, false])
    func end(_ isDone: Bool) async throws {
        let (receiveQueue, receiver, wakeups) = try Self.make()
        receiveQueue.deliver([UInt8](repeating: 1, count: 4_096))
        receiveQueue.end(.finished(digest: nil))
        #expect(try await receiver.next()?.count == 1)
        #expect(try await receiver.next() == nil)
        #expect(wakeups.all.isEmpty)
        if isDone { receiver.done() } else { receiver.stop(.digest) }
        #expect(wakeups.all.count == 1)
        let report = receiveQueue.take()
        #expect(report.consumed == 4_096 && report.isDrained)
        #expect(isDone ? report.done == .ok : report.stop == .digest)
    }

    @Test("releasing the receiver declines, or cancels after a read; at the end it does nothing")
    func lettingGo() async throws {
        func abandoned(_ use: @Sendable (ChannelReceiveQueue, ChannelReceiver) async throws -> Void)
            async throws
            -> CloseCode?
        {
            let receiveQueue = try await {
                let (receiveQueue, receiver, _) = try Self.make()
                try await use(receiveQueue, receiver)
                return receiveQueue
            }()
            return receiveQueue.take().stop
        }
        #expect(try await abandoned { _, _ in } == .declined)
        #expect(
            try await abandoned { receiveQueue, receiver in
                receiveQueue.deliver([1])
                _ = try await receiver.next()
            } == .cancelled)
        #expect(try await abandoned { receiveQueue, _ in receiveQueue.fail(.reset(.ok)) } == nil)
    }

    @Test("a cancelled task stops waiting, and another can wait")
    func cancelled() async throws {
        let (receiveQueue, receiver, _) = try Self.make()
        let task = Task { try await receiver.next() }
        task.cancel()
        await #expect(throws: ChannelFault.cancelled) { try await task.value }
        let waiting = Task { try await receiver.next() }
        receiveQueue.deliver([5])
        receiveQueue.tell()
        receiveQueue.tell()
        #expect(try await waiting.value == [[5]])
    }

    @Test("of two tasks that wait at once, the second gets an error and the first the data")
    func twoReaders() async throws {
        let (receiveQueue, receiver, _) = try Self.make()
        await withTaskGroup(of: Result<[[UInt8]]?, ChannelFault>.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    do throws(ChannelFault) {
                        return .success(try await receiver.next())
                    } catch {
                        return .failure(error)
                    }
                }
            }
            #expect(await group.next() == .failure(.inUse))
            receiveQueue.deliver([5])
            receiveQueue.tell()
            #expect(await group.next() == .success([[5]]))
        }
        receiveQueue.deliver([6])
        #expect(try await receiver.next() == [[6]])
    }

    private static func make(
        _ kind: ChannelOpening.Kind = .resource
    ) throws -> (ChannelReceiveQueue, ChannelReceiver, Notes<Void>) {
        let wakeups = Notes<Void>()
        let receiveQueue = ChannelReceiveQueue(ChannelOpening(kind: kind, name: "x")) {
            wakeups.append(())
        }
        return (receiveQueue, ChannelReceiver(from: try PeerID.sample, receiveQueue), wakeups)
    }
}

extension PeerID {
    static var sample: PeerID {
        get throws { try PeerID(validating: UID(high: 1, low: 2), displayName: "sample") }
    }
}
