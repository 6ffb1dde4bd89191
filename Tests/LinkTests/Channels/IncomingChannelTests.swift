import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Channels opened by the peer", .computing)
struct IncomingChannelTests {
    @Test("a stream is announced, delivers its bytes in order and ends once [stream.end] [channel.fin]")
    func stream() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .data(channel: 1, [1, 2]))
        #expect(
            end.channelEvents() == [.opened(1, .stream, cost: ChannelOpening.streamCost), .data(1, [1, 2])])
        end.receive(.data(channel: 1, [3]), .fin(channel: 1, sha256: nil))
        #expect(end.channelEvents() == [.data(1, [3]), .finished(1, digest: nil)])
        #expect(end.link.end == nil)
        #expect(!end.wantsToSend)
    }

    @Test("a resource waits for DONE, which is sent once [resource.done] [channel.fin]")
    func resource() {
        let end = End()
        let digest = [UInt8](repeating: 7, count: 32)
        end.receive(.open(channel: 1, .resource), .data(channel: 1, [1]), .fin(channel: 1, sha256: digest))
        #expect(end.channelEvents().last == .finished(1, digest: digest))
        end.link.done(1, .ok)
        end.link.done(1, .digest)
        end.link.stop(1, .cancelled)
        #expect(end.frames() == [.done(channel: 1, .ok)])
    }

    @Test("DONE is sent only for a finished resource, and stopping one is a DONE [resource.done]")
    func doneOnlyFinished() {
        let end = End()
        end.receive(.open(channel: 1, .resource), .open(channel: 2, .stream), .open(channel: 3, .resource))
        end.receive(.fin(channel: 2, sha256: nil), .fin(channel: 3, sha256: nil))
        end.link.done(1, .ok)
        end.link.done(2, .ok)
        end.link.done(9, .ok)
        #expect(end.frames() == [])
        end.link.stop(3, .noSpace)
        #expect(end.frames() == [.done(channel: 3, .noSpace)])
    }

    @Test("small DATA that arrive together are one piece, and the next batch begins another")
    func joined() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .open(channel: 2, .stream))
        _ = end.channelEvents()
        for _ in 0..<3 { end.receive(.data(channel: 1, [1]), .data(channel: 2, [2])) }
        #expect(end.channelEvents() == [.data(1, [1, 1, 1]), .data(2, [2, 2, 2])])
        end.receive(.data(channel: 1, [3]))
        #expect(end.channelEvents() == [.data(1, [3])])
        end.receive(.data(channel: 1, .ones(4_097)), .data(channel: 1, .ones(4_097)))
        #expect(end.channelEvents().count == 2)
    }

    @Test(
        "a number must be higher than all before it, and may skip some [channel.number]",
        arguments: [1, 4, 5] as [UInt32])
    func numbers(_ number: UInt32) {
        let end = End()
        end.receive(.open(channel: 1, .stream), .open(channel: 5, .stream), .open(channel: .max, .stream))
        #expect(end.link.end == nil)
        end.receive(.open(channel: number, .stream))
        #expect(end.link.end == .violation(.channelOutOfTurn(number)))
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("one channel more than the own HELLO allows ends the link [channel.limit]")
    func limit() {
        let end = End(.init(local: .small(credit: 1 << 20, channels: 3)))
        end.receive((1...3).map { .open(channel: $0, .stream) })
        #expect(end.link.end == nil)
        end.receive(.open(channel: 4, .stream))
        #expect(end.link.end == .violation(.tooManyChannels(4)))
        #expect(end.link.end?.closeCode == .flow)
    }

    @Test(
        "FIN of a stream, RESET, and DONE of a resource release the place, and nothing else [channel.limit]")
    func places() {
        let limits = LinkLimits.small(credit: 1 << 20, channels: 1)
        let end = End(.init(local: limits))
        end.receive(.open(channel: 1, .stream), .fin(channel: 1, sha256: nil))
        end.receive(.open(channel: 2, .stream), .reset(channel: 2, .cancelled), .open(channel: 3, .resource))
        end.receive(.fin(channel: 3, sha256: nil))
        end.link.done(3, .ok)
        end.receive(
            .open(channel: 4, .resource), .fin(channel: 4, sha256: nil), .reset(channel: 4, .cancelled))
        end.receive(.open(channel: 5, .stream))
        end.link.stop(5, .declined)
        _ = end.frames()
        end.receive(.fin(channel: 5, sha256: nil), .open(channel: 6, .stream))
        #expect(end.link.end == nil)
        end.link.stop(6, .declined)
        _ = end.frames()
        end.receive(.open(channel: 7, .stream))
        #expect(end.link.end == .violation(.tooManyChannels(7)))

        let finished = End(.init(local: limits))
        finished.receive(
            .open(channel: 1, .resource), .fin(channel: 1, sha256: nil), .open(channel: 2, .stream))
        #expect(finished.link.end == .violation(.tooManyChannels(2)))
    }

    @Test("an unknown kind is declined, costs nothing in the end, and the link stays [channel.kind]")
    func unknownKind() {
        let end = End(.init(local: .small(credit: 4_096)))
        let strange = ChannelOpening(kind: .init(rawValue: 9), name: "x")
        end.receive(.open(channel: 1, strange), .data(channel: 1, [1]), .message([2]))
        let limit: UInt64 = 4_096 + 1_034
        #expect(end.frames() == [.credit(channel: 0, limit: limit), .stop(channel: 1, .declined)])
        #expect(end.channelEvents() == [])
        #expect(end.messages() == [[2]])
        end.receive(.reset(channel: 1, .declined))
        #expect(end.link.end == nil)
        #expect(end.channelEvents() == [])
    }

    @Test("OPEN uses its payload and 1,024 of the message credit until it is accepted [channel.cost]")
    func cost() {
        let cost = ChannelOpening.streamCost
        let end = End(.init(local: .small(credit: 2 * cost)))
        end.receive(.open(channel: 1, .stream), .open(channel: 2, .stream))
        #expect(end.link.end == nil)
        end.link.consumed(cost)
        #expect(end.frames() == [.credit(channel: 0, limit: UInt64(3 * cost))])
        end.receive(.open(channel: 3, .stream))
        #expect(end.link.end == nil)
        end.receive(.message([]))
        #expect(end.link.end == .violation(.beyondMessageCredit(by: 64)))
        #expect(end.link.end?.closeCode == .flow)
        #expect(end.channelEvents().count == 3)
    }

    @Test("an unknown entry costs as much as any other [channel.cost]")
    func ignoredEntry() {
        let end = End()
        var open = ByteBuffer()
        open.appendFrame(.open, channel: 1) {
            $0.appendField(ChannelOpening.Field.kind, UInt8(1))
            $0.appendField(ChannelOpening.Field.name, text: "s")
            $0.appendField(0x0A0A, .ones(100))
        }
        end.receive(open.takeAll())
        #expect(end.channelEvents() == [.opened(1, .stream, cost: ChannelOpening.streamCost + 104)])
    }

    @Test("an OPEN beyond the credit is not announced [channel.cost]")
    func beyondCost() {
        let end = End(.init(local: .small(credit: 1_033)))
        end.receive(.open(channel: 1, .stream))
        #expect(end.link.end == .violation(.beyondMessageCredit(by: 1)))
        #expect(end.channelEvents() == [])
    }

    @Test(
        "a name is mandatory and has at most 1,024 bytes [channel.name]", arguments: [0, 1, 1_024, 1_025])
    func names(_ count: Int) {
        let end = End()
        end.receive(
            .open(channel: 1, ChannelOpening(kind: .stream, name: String(repeating: "a", count: count))))
        #expect(end.link.end?.closeCode == (1...1_024 ~= count ? nil : .protocolError))
    }

    @Test("the own STOP ends a channel for good: data on its way is dropped [channel.stop] [channel.late]")
    func stop() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(100_000)[..<65_536].map { $0 }))
        _ = end.channelEvents()
        #expect(end.link.heldBytes == 65_536)
        end.link.stop(1, .cancelled)
        end.link.stop(1, .busy)
        #expect(end.link.heldBytes == 0)
        #expect(end.frames() == [.stop(channel: 1, .cancelled)])
        end.receive(.data(channel: 1, [2]))
        end.link.consumed(65_536, of: 1)
        end.receive(.reset(channel: 1, .cancelled))
        #expect(end.channelEvents() == [])
        #expect(end.frames() == [])
        #expect(end.link.heldBytes == 0)
        #expect(end.link.end == nil)
    }

    @Test("FIN of a resource whose STOP is on its way closes it, without DONE [channel.fin] [channel.late]")
    func finAfterStop() {
        let end = End()
        end.receive(.open(channel: 1, .resource))
        end.link.stop(1, .noSpace)
        end.receive(.fin(channel: 1, sha256: nil))
        end.link.done(1, .noSpace)
        #expect(end.frames() == [.stop(channel: 1, .noSpace)])
        #expect(end.channelEvents().count == 1)
    }

    @Test("RESET ends a channel, and none of its data counts as held [stream.end]")
    func reset() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .data(channel: 1, [1, 2]), .reset(channel: 1, .internal))
        #expect(end.channelEvents().last == .aborted(1, .internal))
        #expect(end.link.heldBytes == 0)
        end.link.consumed(2, of: 1)
        end.link.stop(1, .cancelled)
        #expect(end.frames() == [])
    }

    @Test("the own CLOSE ends every channel: nothing more is reported")
    func afterEnd() {
        let end = End()
        end.receive(.open(channel: 1, .stream))
        _ = end.channelEvents()
        end.link.close(.goodbye, at: end.now)
        end.receive(.data(channel: 1, [1]), .fin(channel: 1, sha256: nil))
        end.link.stop(1, .cancelled)
        #expect(end.channelEvents() == [])
        #expect(end.frames() == [.close(.goodbye, reason: "")])
    }
}
