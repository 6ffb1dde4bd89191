import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Rules about channels", .computing)
struct ChannelRuleTests {
    private static let about: [Frame] = [
        .data(channel: 1, [1]), .fin(channel: 1, sha256: nil), .reset(channel: 1, .ok),
        .stop(channel: 1, .ok),
        .credit(channel: 1, limit: 1 << 40), .done(channel: 1, .ok),
    ]

    @Test("a frame for a number that was never opened ends the link [channel.closed]", arguments: about)
    func neverOpened(_ frame: Frame) {
        let end = End()
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("a channel that waits for its OPEN is not open [channel.closed]", arguments: about[3...])
    func notYetOpened(_ frame: Frame) {
        let end = End(.init(remote: .small(channels: 0)))
        #expect(end.link.open(.resource) == 1)
        #expect(end.frames() == [])
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("the numbers of the two ends are separate [channel.number] [channel.closed]", arguments: about)
    func twoSpaces(_ frame: Frame) {
        let (own, peers) = (End(), End())
        #expect(own.link.open(.resource) == 1)
        own.link.finish(1)
        _ = own.frames()
        peers.receive(.open(channel: 1, .resource))
        own.receive(frame)
        peers.receive(frame)
        switch frame {
        case .data, .fin, .reset:
            #expect(own.link.end?.closeCode == .protocolError)
            #expect(peers.link.end == nil)
        default:
            #expect(own.link.end == nil)
            #expect(peers.link.end?.closeCode == .protocolError)
        }
    }

    @Test(
        "DATA and FIN for a closed channel end the link [channel.closed]",
        arguments: about[..<2], ["fin", "finished", "reset", "done", "stopped and reset", "left out"])
    func closed(_ frame: Frame, _ how: String) {
        let end = End()
        end.receive(.open(channel: 1, how == "done" || how == "finished" ? .resource : .stream))
        switch how {
        case "fin", "finished": end.receive(.fin(channel: 1, sha256: nil))
        case "reset": end.receive(.reset(channel: 1, .ok))
        case "done":
            end.receive(.fin(channel: 1, sha256: nil))
            end.link.done(1, .ok)
        case "left out": end.receive(.fin(channel: 1, sha256: nil), .open(channel: 4, .stream))
        default:
            end.link.stop(1, .ok)
            _ = end.frames()
            end.receive(.reset(channel: 1, .ok))
        }
        #expect(end.link.end == nil)
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("a number that was skipped counts as closed [channel.number] [channel.closed]")
    func leftOut() {
        let end = End()
        end.receive(.open(channel: 4, .stream), .reset(channel: 3, .ok))
        #expect(end.link.end == nil)
        end.receive(.data(channel: 3, [1]))
        #expect(end.link.end == .violation(.channelNotOpen(.data, 3)))
    }

    @Test(
        "RESET for a closed channel changes nothing, and is a control frame [channel.closed] [channel.exempt]"
    )
    func lateReset() {
        let end = End()
        end.receive(.open(channel: 1, .stream), .fin(channel: 1, sha256: nil))
        end.receive([Frame](repeating: .reset(channel: 1, .ok), count: 400))
        #expect(end.link.end == nil)
        #expect(end.channelEvents().count == 2)
        end.receive(.reset(channel: 1, .ok))
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test(
        "STOP, CREDIT and DONE for a closed channel do likewise [channel.closed] [channel.exempt]",
        arguments: about[3...])
    func lateAnswers(_ frame: Frame) {
        let end = End()
        #expect(end.link.open(.stream) == 1)
        end.link.finish(1)
        _ = end.frames()
        end.receive([Frame](repeating: frame, count: 400))
        #expect(end.link.end == nil)
        #expect(end.channelEvents() == [.began(1), .ended(1)])
        #expect(end.frames() == [])
        end.receive(frame)
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test(
        "frames that each channel can have only once are not control frames [channel.exempt] [limit.control]")
    func free() {
        let end = End(.init(remote: .small(credit: 1 << 20, channels: 200)))
        for _ in 0..<100 {
            let number = end.link.open(.resource)
            if number > 50 { end.link.finish(number) }
        }
        _ = end.frames()
        end.receive((0..<400).map { .ping($0) })
        for number in 1...100 as ClosedRange<UInt32> {
            end.receive(.open(channel: number, .stream), .data(channel: number, [1]))
            end.receive(number % 2 == 0 ? .fin(channel: number, sha256: nil) : .reset(channel: number, .ok))
            end.receive(number > 50 ? .done(channel: number, .ok) : .stop(channel: number, .declined))
        }
        #expect(end.link.end == nil)
        end.receive(.ping(1))
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test(
        "CREDIT for a channel is a control frame, and DATA earns tokens for it [channel.exempt] [limit.control]"
    )
    func creditCosts() {
        let end = End()
        #expect(end.link.open(.stream) == 1)
        _ = end.frames()
        end.receive((0..<399).map { .ping($0) })
        end.receive(.credit(channel: 1, limit: 300_000))
        #expect(end.link.end == nil)
        end.receive(.open(channel: 1, .stream), .data(channel: 1, .ones(16_384 - 1_034)))
        end.receive(.credit(channel: 1, limit: 300_001))
        #expect(end.link.end == nil)
        end.receive(.credit(channel: 1, limit: 300_002))
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test("200 channels may be reset at once, and one more every 150 ms [channel.reset-rate]")
    func resetRate() {
        let end = End(.init(local: .standard))
        var next: UInt32 = 0
        func reset(_ count: Int) {
            for _ in 0..<count {
                next += 1
                end.receive(.open(channel: next, .stream), .reset(channel: next, .cancelled))
                end.link.consumed(ChannelOpening.streamCost)
            }
        }
        reset(200)
        #expect(end.link.end == nil)
        end.advance(0.3)
        reset(2)
        #expect(end.link.end == nil)
        reset(1)
        #expect(end.link.end == .violation(.tooManyResets))
        #expect(end.frames() == [.close(.flood, reason: "")])
    }

    @Test("a RESET that answers the own STOP is not counted, one that crosses it is [channel.reset-rate]")
    func answeringResets() {
        let end = End()
        for number in 1...300 as ClosedRange<UInt32> {
            end.receive(.open(channel: number, .stream))
            end.link.consumed(ChannelOpening.streamCost)
            end.link.stop(number, .declined)
            _ = end.frames()
            end.receive(.reset(channel: number, .declined))
        }
        #expect(end.link.end == nil)
        for number in 301...501 as ClosedRange<UInt32> where end.link.end == nil {
            end.receive(.open(channel: number, .stream))
            end.link.consumed(ChannelOpening.streamCost)
            end.link.stop(number, .declined)
            end.receive(.reset(channel: number, .declined))
            if end.link.end == nil {
                #expect(end.frames().allSatisfy { $0 != .stop(channel: number, .declined) })
            }
        }
        #expect(end.link.end == .violation(.tooManyResets))
    }
}
