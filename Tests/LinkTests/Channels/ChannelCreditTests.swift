import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Channel credit", .computing)
struct ChannelCreditTests {
    @Test("the sender stops at the limit and continues after CREDIT [channel.credit-limit]")
    func sender() {
        let end = End(.init(remote: .small(channelCredit: 20_000)))
        #expect(end.link.open(.stream) == 1)
        end.link.write(.ones(50_000), to: 1)
        end.link.finish(1)
        #expect(
            end.frames() == [
                .open(channel: 1, .stream), .data(channel: 1, .ones(16_376)), .data(channel: 1, .ones(3_624)),
            ])
        #expect(!end.wantsToSend)
        end.receive(.credit(channel: 1, limit: 20_001))
        #expect(end.frames() == [.data(channel: 1, [1])])
        end.receive(.credit(channel: 1, limit: .max))
        #expect(end.frames().count == 3)
        #expect(end.link.end == nil)
    }

    @Test("FIN needs no credit [channel.credit-limit] [stream.end]")
    func fin() {
        let end = End(.init(remote: .small(channelCredit: 1)))
        #expect(end.link.open(.stream) == 1)
        end.link.write([1], to: 1)
        end.link.finish(1)
        #expect(end.frames().last == .fin(channel: 1, sha256: nil))
    }

    @Test(
        "credit that does not grow is refused [channel.credit-grow]", arguments: [0, 999, 1_000] as [UInt64])
    func noGrowth(_ limit: UInt64) {
        let end = End(.init(remote: .small(channelCredit: 1_000)))
        #expect(end.link.open(.stream) == 1)
        _ = end.frames()
        end.receive(.credit(channel: 1, limit: limit))
        #expect(end.link.end == .violation(.creditDidNotGrow(limit)))
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("a byte beyond the limit ends the link [channel.credit-limit]", arguments: [0, 1])
    func receiver(_ excess: Int) {
        let end = End(.init(local: .small(channelCredit: 1_000)))
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(999)))
        end.receive(.data(channel: 1, .ones(1 + excess)))
        #expect(end.link.end == (excess == 0 ? nil : .violation(.beyondChannelCredit(1))))
        #expect(end.frames() == (excess == 0 ? [] : [.close(.flow, reason: "")]))
    }

    @Test("data after the own STOP is dropped and still counted [channel.late] [channel.credit-limit]")
    func late() {
        let end = End(.init(local: .small(channelCredit: 1_000)))
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(400)))
        end.link.stop(1, .cancelled)
        end.receive(.data(channel: 1, .ones(600)))
        #expect(end.link.end == nil)
        #expect(end.link.heldBytes == 0)
        end.receive(.data(channel: 1, [1]))
        #expect(end.link.end == .violation(.beyondChannelCredit(1)))
    }

    @Test(
        "credit is returned when a quarter of the window has been read, and not before [channel.credit-return]"
    )
    func quarters() {
        let end = End(.init(local: .small(channelCredit: 1_000)))
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(1_000)))
        end.link.consumed(249, of: 1)
        #expect(end.frames() == [])
        end.link.consumed(1, of: 1)
        end.link.consumed(50, of: 1)
        #expect(end.frames() == [.credit(channel: 1, limit: 1_300)])
        end.link.consumed(700, of: 1)
        #expect(end.link.heldBytes == 0)
        end.receive(.fin(channel: 1, sha256: nil))
        #expect(end.frames() == [])
    }

    @Test(
        "a window grows while a whole one is taken within two round trips, and no further [channel.credit-return]"
    )
    func growth() {
        let end = End(.init(local: .small(channelCredit: 1_000)))
        end.receive(.open(channel: 1, .stream), .open(channel: 2, .stream))
        /// Reads a window, and returns the limit that is announced after it.
        func limit(of channel: UInt32, taking count: Int, in milliseconds: Int, spare: Int) -> UInt64? {
            end.receive(.data(channel: channel, .ones(count / 2)), .data(channel: channel, .ones(count / 2)))
            end.advance(Double(milliseconds) / 1_000)
            end.link.consumed(count, of: channel, spare: spare)
            return end.frames().lazy.compactMap { frame in
                if case .credit(channel, let limit) = frame { limit } else { nil }
            }.first
        }
        // The first only begins the measurement.
        #expect(limit(of: 1, taking: 1_000, in: 1, spare: 10_000) == 2_000)
        #expect(limit(of: 1, taking: 1_000, in: 1, spare: 10_000) == 4_000)
        #expect(limit(of: 1, taking: 2_000, in: 1, spare: 500) == 6_500)
        #expect(end.link.extraCredit == 1_500)
        #expect(limit(of: 1, taking: 2_500, in: 2, spare: 10_000) == 9_000)
        #expect(limit(of: 2, taking: 1_000, in: 1, spare: 0) == 2_000)
        #expect(limit(of: 2, taking: 1_000, in: 1, spare: 0) == 3_000)
        #expect(end.link.extraCredit == 1_500)
        end.receive(.fin(channel: 1, sha256: nil))
        #expect(end.link.extraCredit == 0)
        #expect(end.link.end == nil)
    }

    @Test("a window stops growing at 8 MiB, while its channel stays open [channel.credit-return]")
    func longestWindow() {
        let mebibyte = 1_048_576
        let end = End(.init(local: .small(channelCredit: UInt32(mebibyte))))
        end.receive(.open(channel: 1, .stream))
        var most = 0
        for window in [1, 1, 2, 4, 8, 8, 8] {
            Self.takeWindow(window * mebibyte, of: end, spare: .max)
            most = max(most, end.link.extraCredit)
        }
        #expect(end.link.end == nil)
        #expect(most == 7 * mebibyte)
        #expect(end.link.extraCredit == most)
    }

    @Test("windows of all links together grow by two fifths of the memory for channels [limit.memory]")
    func sharedGrowth() {
        let memory = ReceiveMemory()
        let ends = (0..<3).map { _ in End(.init(local: .small(channelCredit: 1_048_576))) }
        for end in ends { end.receive(.open(channel: 1, .stream)) }
        func spare() -> Int { memory.spare(beyond: ends.map { $0.link.extraCredit }) }
        #expect(spare() == 8 * 1_048_576)
        for end in ends {
            Self.takeWindow(1_048_576, of: end, spare: spare())
            for _ in 0..<3 {
                Self.takeWindow(1_048_576 + end.link.extraCredit, of: end, spare: spare())
            }
        }
        #expect(ends.reduce(0) { $0 + $1.link.extraCredit } == ReceiveMemory.limit / 5 * 2)
        #expect(spare() == 0)
        // What one of them gives back, another may have.
        ends[0].receive(.fin(channel: 1, sha256: nil))
        #expect(spare() == 7 * 1_048_576)
    }

    /// Receives a whole window on channel 1, and takes it within a millisecond.
    private static func takeWindow(_ count: Int, of end: End, spare: Int) {
        let data = [UInt8].ones(65_536)
        for _ in 0..<(count / data.count) { end.receive(.data(channel: 1, data)) }
        _ = end.channelEvents()
        end.advance(0.001)
        end.link.consumed(count, of: 1, spare: spare)
        _ = end.frames()
    }

    @Test("unread data of a finished stream counts until it is read [limit.memory]")
    func unread() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(300)), .fin(channel: 1, sha256: nil))
        #expect(end.link.heldBytes == 300)
        end.link.consumed(100, of: 1)
        #expect(end.link.heldBytes == 200)
        #expect(end.link.stopFullest(.busy) == 1)
        #expect(end.link.heldBytes == 0)
        #expect(end.frames() == [])
    }

    @Test("the channel that holds most is stopped first [limit.memory]")
    func fullest() {
        let end = End()
        end.receive((1...4).map { .open(channel: $0, .resource) })
        for (channel, count) in [(1, 10), (2, 30), (3, 20), (4, 30)] as [(UInt32, Int)] {
            end.receive(.data(channel: channel, .ones(count)))
        }
        end.receive(.fin(channel: 2, sha256: nil))
        #expect((0..<5).map { _ in end.link.stopFullest(.busy) } == [4, 2, 3, 1, nil])
        #expect(
            end.frames() == [
                .stop(channel: 4, .busy), .done(channel: 2, .busy), .stop(channel: 3, .busy),
                .stop(channel: 1, .busy),
            ])
    }

    @Test("a session stops channels of the link that holds most, and only beyond 20 MiB [limit.memory]")
    func memory() {
        let memory = ReceiveMemory()
        let mebibyte = 1_048_576
        #expect(
            memory.excess([("a", 12 * mebibyte), ("b", 8 * mebibyte)].map { (id: $0.0, bytes: $0.1) }) == nil)
        #expect(memory.excess([(id: "a", bytes: 8 * mebibyte), (id: "b", bytes: 12 * mebibyte + 1)]) == "b")
        #expect(memory.excess([(id: Int, bytes: Int)]()) == nil)
    }

    @Test("seven hostile peers never make a session hold more than 20 MiB of channels [limit.memory]")
    func hostile() {
        let ends = (0..<7).map { _ in End() }
        let memory = ReceiveMemory()
        let data = [UInt8].ones(65_536)
        var most = 0
        for number in 1...30 as ClosedRange<UInt32> {
            for end in ends {
                end.receive(.open(channel: number, .stream))
                for _ in 0..<4 { end.receive(.data(channel: number, data)) }
                _ = end.channelEvents()
                while let worst = memory.excess(
                    ends.enumerated().map { ($0.offset, $0.element.link.heldBytes) })
                {
                    #expect(ends[worst].link.stopFullest(.busy) != nil)
                }
                most = max(most, ends.reduce(0) { $0 + $1.link.heldBytes })
            }
        }
        #expect(most <= ReceiveMemory.limit)
        #expect(ends.allSatisfy { $0.link.end == nil })
    }
}
