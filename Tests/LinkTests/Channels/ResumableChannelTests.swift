import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9.6 Resumable resources", .computing)
struct ResumableChannelTests {
    private static let opening = ChannelOpening(kind: .resource, name: "r", size: 100_000, isResumable: true)
    private static let offer = ResumeOffer(offset: 60_000, sha256: [UInt8](repeating: 5, count: 32))

    @Test(
        "nothing follows OPEN before RESUME; BEGIN, what was queued and FIN come after [resource.resumable]")
    func opener() {
        let end = End()
        #expect(end.link.open(Self.opening) == 1)
        end.link.write(.ones(40_000), to: 1)
        end.link.finish(1)
        #expect(end.frames() == [.open(channel: 1, Self.opening)])
        #expect(!end.wantsToSend)
        end.receive(.resume(channel: 1, Self.offer))
        #expect(end.channelEvents() == [.began(1), .resumes(1, Self.offer)])
        #expect(!end.wantsToSend)
        end.link.begin(1, at: 60_000)
        let frames = end.frames()
        #expect(frames.first == .begin(channel: 1, offset: 60_000))
        #expect(frames.last == .fin(channel: 1, sha256: nil) && frames.count == 5)
    }

    @Test(
        "a channel that was given up, or stopped, while RESUME was on its way sends no BEGIN [resource.begin]"
    )
    func givenUp() {
        let end = End()
        #expect(end.link.open(Self.opening) == 1)
        _ = end.frames()
        end.receive(.resume(channel: 1, Self.offer), .stop(channel: 1, .noSpace))
        end.link.begin(1, at: 0)
        #expect(end.frames() == [.reset(channel: 1, .noSpace)])
        #expect(end.link.open(Self.opening) == 2)
        _ = end.frames()
        end.link.reset(2, .cancelled)
        end.receive(.resume(channel: 2, Self.offer))
        end.link.begin(2, at: 60_000)
        #expect(end.frames() == [.reset(channel: 2, .cancelled)])
        #expect(end.link.end == nil)
    }

    @Test(
        "BEGIN is written before DATA however little room an output has [resource.begin]", arguments: 8...64)
    func littleRoom(_ room: Int) {
        let end = End()
        #expect(end.link.open(Self.opening) == 1)
        _ = end.frames()
        end.link.write(.ones(100), to: 1)
        end.receive(.resume(channel: 1, Self.offer))
        end.link.begin(1, at: 60_000)
        let frames = end.frames(upTo: room)
        #expect(frames.first == (room < 16 ? nil : .begin(channel: 1, offset: 60_000)))
    }

    @Test(
        "a receiver offers once what it has, and takes only that or nothing as the beginning [resource.begin]"
    )
    func receiver() {
        for (offset, isRight) in [(60_000, true), (0, true), (59_999, false), (100_000, false)]
            as [(UInt64, Bool)]
        {
            let end = End()
            end.receive(.open(channel: 1, Self.opening))
            end.link.resume(1, Self.offer)
            end.link.resume(1, ResumeOffer(offset: 0, sha256: Self.offer.sha256))
            #expect(end.frames() == [.resume(channel: 1, Self.offer)])
            _ = end.channelEvents()
            end.receive(.begin(channel: 1, offset: offset))
            #expect(end.channelEvents() == (isRight ? [.begins(1, offset: offset)] : []))
            #expect(end.link.end == (isRight ? nil : .violation(.badOffset(offset, 1))))
        }
    }

    @Test("DATA, FIN and another RESUME that come too early end the link [resource.resumable]")
    func early() {
        for frame in [
            Frame.data(channel: 1, [1]), .fin(channel: 1, sha256: nil), .begin(channel: 1, offset: 0),
        ] {
            let end = End()
            end.receive(.open(channel: 1, Self.opening), frame)
            #expect(end.link.end?.closeCode == .protocolError)
        }
        let end = End()
        #expect(end.link.open(Self.opening) == 1)
        _ = end.frames()
        end.receive(.resume(channel: 1, Self.offer), .resume(channel: 1, Self.offer))
        #expect(end.link.end == .violation(.channelNotOpen(.resume, 1)))
    }

    @Test("an offer beyond the size ends the link [resource.resumable]", arguments: [0, 1] as [UInt64])
    func beyond(_ excess: UInt64) {
        let end = End()
        #expect(end.link.open(Self.opening) == 1)
        _ = end.frames()
        let offer = ResumeOffer(offset: 100_000 + excess, sha256: Self.offer.sha256)
        end.receive(.resume(channel: 1, offer))
        #expect(end.link.end == (excess == 0 ? nil : .violation(.badOffset(100_001, 1))))
    }

    @Test("only a resource of known size may be resumable [resource.resumable]")
    func form() {
        let stream = ChannelOpening(kind: .stream, name: "s", size: 1, isResumable: true)
        let unsized = ChannelOpening(kind: .resource, name: "s", isResumable: true)
        for opening in [stream, unsized] {
            let end = End()
            end.receive(.open(channel: 1, opening))
            #expect(end.link.end == .violation(.framing(.wrongFieldValue(ChannelOpening.Field.resumable))))
        }
    }

    @Test(
        "RESUME and BEGIN of an open channel are no control frames; RESUME of a closed one is [channel.exempt]"
    )
    func budget() {
        let end = End()
        for number in 1...1_000 as ClosedRange<UInt32> {
            end.receive(.open(channel: number, Self.opening))
            end.link.resume(number, Self.offer)
            _ = end.frames()
            end.receive(.begin(channel: number, offset: 0), .fin(channel: number, sha256: nil))
            end.link.done(number, .ok)
            _ = end.channelEvents().map { if case .opened(_, _, let cost) = $0 { end.link.consumed(cost) } }
            _ = end.frames()
        }
        #expect(end.link.end == nil)
        let opener = End()
        #expect(opener.link.open(Self.opening) == 1)
        _ = opener.frames()
        opener.link.reset(1, .cancelled)
        for _ in 0..<400 { opener.receive(.resume(channel: 1, Self.offer)) }
        #expect(opener.link.end == nil)
        opener.receive(.resume(channel: 1, Self.offer))
        #expect(opener.link.end == .violation(.tooManyControlFrames))
    }
}
