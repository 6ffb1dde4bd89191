import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Channels opened by this side", .computing)
struct OutgoingChannelTests {
    @Test("a stream is sent as OPEN, its bytes in records, and FIN [stream.end] [channel.number]")
    func stream() {
        let end = End()
        #expect(end.link.open(.stream) == 1)
        end.link.write(.ones(20_000), to: 1)
        end.link.write([2, 3], to: 1)
        end.link.finish(1)
        end.link.write([4], to: 1)
        end.link.finish(1, digest: [UInt8](repeating: 1, count: 32))
        #expect(
            end.frames() == [
                .open(channel: 1, .stream), .data(channel: 1, .ones(16_376)),
                .data(channel: 1, .ones(3_624) + [2, 3]), .fin(channel: 1, sha256: nil),
            ])
        #expect(end.channelEvents() == [.began(1), .wrote(1, pieces: 2, bytes: 20_002), .ended(1)])
        #expect(!end.wantsToSend)
        #expect(end.link.open(.stream) == 2)
    }

    @Test(
        "a resource is finished with DONE, whatever its outcome [resource.done]",
        arguments: [CloseCode.ok, .digest])
    func resource(_ code: CloseCode) {
        let end = End()
        let digest = [UInt8](repeating: 9, count: 32)
        #expect(end.link.open(.resource) == 1)
        end.link.finish(1, digest: digest)
        #expect(end.frames() == [.open(channel: 1, .resource), .fin(channel: 1, sha256: digest)])
        end.receive(.done(channel: 1, code))
        #expect(end.channelEvents() == [.began(1), .ended(1), .completed(1, code)])
        end.link.reset(1, .cancelled)
        #expect(end.frames() == [])
    }

    @Test("DONE before FIN, or for a stream, ends the link [resource.done]", arguments: [true, false])
    func earlyDone(_ isStream: Bool) {
        let end = End()
        #expect(end.link.open(isStream ? .stream : .resource) == 1)
        _ = end.frames()
        end.receive(.done(channel: 1, .ok))
        #expect(end.link.end == .violation(.doneTooEarly(1)))
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("empty pieces are reported as sent, too, and make no frame [limit.empty]")
    func emptyPieces() {
        let end = End()
        #expect(end.link.open(.stream) == 1)
        end.link.write([], to: 1)
        end.link.write([1], to: 1)
        end.link.write([], to: 1)
        end.link.write([], to: 1)
        #expect(end.frames() == [.open(channel: 1, .stream), .data(channel: 1, [1])])
        end.link.write([], to: 1)
        var pieces = 0
        for case .wrote(_, let count, _) in end.channelEvents() { pieces += count }
        #expect(pieces == 5)
        #expect(!end.wantsToSend)
    }

    @Test("OPEN waits for a place, which FIN, RESET, DONE and STOP release [channel.limit]")
    func places() {
        let end = End(.init(remote: .small(channels: 1)))
        let numbers = (0..<5).map { _ in end.link.open(.resource) }
        #expect(numbers == [1, 2, 3, 4, 5])
        for number in numbers { end.link.write([UInt8(number)], to: number) }
        #expect(end.frames() == [.open(channel: 1, .resource), .data(channel: 1, [1])])
        end.link.reset(1, .cancelled)
        #expect(
            end.frames() == [
                .reset(channel: 1, .cancelled), .open(channel: 2, .resource), .data(channel: 2, [2]),
            ])
        end.receive(.stop(channel: 2, .busy))
        #expect(
            end.frames() == [.reset(channel: 2, .busy), .open(channel: 3, .resource), .data(channel: 3, [3])])
        end.link.finish(3)
        #expect(end.frames() == [.fin(channel: 3, sha256: nil)])
        end.receive(.done(channel: 3, .ok))
        #expect(end.frames() == [.open(channel: 4, .resource), .data(channel: 4, [4])])
        end.link.finish(4)
        _ = end.frames()
        end.receive(.stop(channel: 4, .noSpace))
        #expect(end.frames() == [.open(channel: 5, .resource), .data(channel: 5, [5])])
        #expect(!end.wantsToSend)
    }

    @Test("OPEN waits for credit, and messages do not use all of it [channel.cost] [channel.starvation]")
    func credit() {
        let end = End(.init(remote: .small(credit: 3_000)))
        end.link.enqueue([[UInt8]](repeating: .ones(400), count: 20))
        let first = end.frames()
        #expect(first.count == 6)
        #expect(end.link.open(.stream) == 1)
        #expect(!end.wantsToSend)
        end.receive(.credit(channel: 0, limit: 3_800))
        #expect(end.frames() == [])
        end.receive(.credit(channel: 0, limit: 4_500))
        #expect(end.frames() == [.open(channel: 1, .stream), .message(.ones(400))])
    }

    @Test("an OPEN that exceeds the whole window does not stop messages [channel.cost]")
    func neverCredit() {
        let end = End(.init(remote: .small(credit: 1_000)))
        _ = end.link.open(.stream)
        end.link.enqueue([[1]])
        #expect(end.frames() == [.message([1])])
        #expect(!end.wantsToSend)
    }

    @Test("a channel that is cancelled before OPEN leaves nothing but a gap [channel.number]")
    func givenUp() {
        let end = End(.init(remote: .small(channels: 1)))
        for _ in 0..<4 { _ = end.link.open(.stream) }
        end.link.write([1], to: 3)
        end.link.finish(3)
        end.link.reset(1, .cancelled)
        end.link.reset(2, .cancelled)
        end.link.reset(4, .cancelled)
        #expect(
            end.frames() == [
                .open(channel: 3, .stream), .data(channel: 3, [1]), .fin(channel: 3, sha256: nil),
            ])
        #expect(end.channelEvents() == [.began(3), .wrote(3, pieces: 1, bytes: 1), .ended(3)])
        end.receive(.stop(channel: 2, .ok))
        #expect(end.link.end == nil)
    }

    @Test("RESET drops queued data and precedes everything else [channel.priority]")
    func reset() {
        let end = End(.init(remote: .small(channelCredit: 10)))
        #expect(end.link.open(.stream) == 1)
        end.link.write(.ones(100), to: 1)
        #expect(end.frames() == [.open(channel: 1, .stream), .data(channel: 1, .ones(10))])
        end.link.enqueue([[1]])
        end.link.reset(1, .cancelled)
        end.link.reset(1, .busy)
        #expect(end.frames() == [.reset(channel: 1, .cancelled), .message([1])])
        end.receive(.credit(channel: 1, limit: 1_000))
        #expect(end.frames() == [])
    }

    @Test("STOP is answered with RESET of the same code, and drops queued data [channel.stop]")
    func stopped() {
        let end = End(.init(remote: .small(channelCredit: 10)))
        #expect(end.link.open(.resource) == 1)
        end.link.write(.ones(100), to: 1)
        end.link.finish(1)
        _ = end.frames()
        _ = end.channelEvents()
        end.receive(.stop(channel: 1, .noSpace))
        #expect(end.frames() == [.reset(channel: 1, .noSpace)])
        #expect(end.channelEvents() == [.stopped(1, .noSpace)])
        end.link.write([1], to: 1)
        end.link.reset(1, .cancelled)
        #expect(end.frames() == [])
        #expect(end.channelEvents() == [])
    }

    @Test("STOP after the own FIN ends a resource without an answer [channel.stop] [channel.fin]")
    func stopAfterFin() {
        let end = End()
        #expect(end.link.open(.resource) == 1)
        end.link.finish(1)
        _ = end.frames()
        end.receive(.stop(channel: 1, .noSpace), .done(channel: 1, .ok))
        #expect(end.frames() == [])
        #expect(end.channelEvents() == [.began(1), .ended(1), .stopped(1, .noSpace)])
    }

    @Test("a finished resource can still be cancelled [resource.cancel]")
    func resetAfterFin() {
        let end = End()
        #expect(end.link.open(.resource) == 1)
        end.link.finish(1)
        _ = end.frames()
        end.link.reset(1, .cancelled)
        #expect(end.frames() == [.reset(channel: 1, .cancelled)])
        end.receive(.done(channel: 1, .ok))
        #expect(end.link.end == nil)
        #expect(end.channelEvents() == [.began(1), .ended(1)])
    }

    @Test("opening and resetting is slowed down before the peer would count a flood [channel.reset-rate]")
    func ownPace() {
        let pair = Pair()
        var (opened, reset): (Set<UInt32>, Int) = ([], 0)
        func round() {
            while opened.count < 300 { opened.insert(pair.one.link.open(.stream)) }
            pair.settle()
            for case .began(let number) in pair.one.channelEvents() {
                pair.one.link.reset(number, .cancelled)
                opened.remove(number)
                reset += 1
            }
            for case .opened(_, _, let cost) in pair.other.channelEvents() { pair.other.link.consumed(cost) }
        }
        for _ in 0..<100 { round() }
        #expect(reset == 150)
        #expect(pair.one.link.deadline == pair.one.now + .milliseconds(200))
        for _ in 0..<300 {
            pair.advance(0.1)
            round()
        }
        #expect(pair.isWell)
        #expect(reset == 300)
    }

    @Test("a peer that allows more channels at once than that gets them gradually [channel.reset-rate]")
    func manyPlaces() {
        let limits = LinkLimits.small(credit: 1 << 24, channels: 1_000)
        let pair = Pair(limits, limits)
        for _ in 0..<1_000 {
            let number = pair.one.link.open(.stream)
            pair.one.link.write([1], to: number)
            pair.one.link.finish(number)
        }
        pair.settle()
        let finished = pair.other.channelEvents().count { if case .finished = $0 { true } else { false } }
        #expect(finished == 1_000)
        #expect(pair.isWell)
    }
}
