import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import TestSupport
import Testing

@Suite("7 Frames on a link")
struct LinkFrameTests {
    private static let open = ChannelOpening(kind: .resource, name: "photo", size: 3)

    @Test(
        "frames of the handshake and of invitations end the link [frame.order]",
        arguments: [.confirm(mac: [UInt8](repeating: 1, count: 32)), .select, .selected] as [Frame])
    func outOfPlace(_ frame: Frame) {
        let end = End()
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
        #expect(end.frames() == [.close(.protocolError, reason: "")])
    }

    @Test("the same holds for a driver that lets the link judge the order [frame.order]")
    func outOfPlaceDirect() {
        var link = Link(.init(), now: .start)
        link.receive(FrameHeader(.select, length: 0), owning: [])
        let end = link.end
        #expect(end == .violation(.outOfPlace(.select)))
    }

    @Test("a GREASE frame is sent once on each link, and the other side does not mind [frame.grease]")
    func grease() {
        let pair = Pair(seed: 5)
        pair.settle()
        #expect(pair.isWell)
        #expect(pair.one.link.statistics.ignoredFrames == 1)
        #expect(pair.other.link.statistics.ignoredFrames == 1)
        #expect(!pair.one.wantsToSend)
    }

    @Test("frames for what is not built yet are read and ignored [frame.payload]")
    func unbuilt() {
        let endpoint = Endpoint(uid: UID(high: 1, low: 2), instance: 3)
        let end = End()
        end.receive(
            .members(Members(origin: endpoint, sequence: 1, members: [])),
            .datagram(DatagramOffer(association: 1, port: 2_000, flags: 0)), .codeRequest,
            .codeCommit([UInt8](repeating: 1, count: 32)), .codeNonce([UInt8](repeating: 1, count: 32)),
            .codeReveal([UInt8](repeating: 1, count: 32)), .message([1]))
        #expect(end.link.end == nil)
        #expect(end.messages() == [[1]])
    }

    @Test(
        "but they must be well formed [frame.payload]",
        arguments: [(0x08, 28), (0x09, 10), (0x31, 31), (0x06, 7)])
    func malformed(_ kind: Int, _ count: Int) {
        let end = End()
        end.receive([0, 0, UInt8(count), UInt8(kind), 0, 0, 0, 0] + [UInt8](repeating: 0, count: count))
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("a channel that the peer opens is declined, and what was on its way is dropped")
    func declined() {
        let end = End()
        end.receive(
            .open(channel: 1, Self.open), .data(channel: 1, [1, 2, 3]), .fin(channel: 1, sha256: nil))
        end.receive(.open(channel: 2, Self.open), .reset(channel: 2, .cancelled), .message([9]))
        #expect(end.frames() == [.stop(channel: 1, .declined), .stop(channel: 2, .declined)])
        #expect(end.link.end == nil)
        #expect(end.messages() == [[9]])
    }

    @Test("what is dropped stays within the credit that our HELLO gave")
    func declinedCredit() {
        let end = End()
        end.receive(.open(channel: 1, Self.open))
        let data = Frame.data(channel: 1, [UInt8](repeating: 1, count: 65_536))
        end.receive([data, data, data, data])
        #expect(end.link.end == nil)
        end.receive(.data(channel: 1, [1]))
        #expect(end.link.end == .violation(.beyondChannelCredit(1)))
        #expect(end.frames() == [.close(.flow, reason: "")])
    }

    @Test(
        "a frame about a channel that is not open is refused",
        arguments: [
            .data(channel: 1, [1]), .fin(channel: 1, sha256: nil), .reset(channel: 1, .ok),
            .stop(channel: 1, .ok),
            .done(channel: 1, .ok), .credit(channel: 1, limit: 9), .open(channel: 2, open),
        ] as [Frame])
    func notOpen(_ frame: Frame) {
        let end = End()
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test("channels far beyond the limit are forgotten, those that may still speak are not")
    func forgotten() {
        let end = End(.init(local: .small(channels: 4)))
        end.receive((1...6).map { .open(channel: $0, Self.open) })
        end.receive((3...6).map { .data(channel: $0, [1]) })
        #expect(end.link.end == nil)
        end.receive(.data(channel: 2, [1]))
        #expect(end.link.end == .violation(.channelNotOpen(.data, 2)))
    }

    @Test(
        "random bytes end the link or do nothing, and never more [frame.header]",
        arguments: 1...50 as ClosedRange<UInt64>)
    func noise(_ seed: UInt64) {
        var random = Seeded(seed)
        let end = End()
        for _ in 0..<200 {
            var bytes = ByteBuffer()
            let kinds: [UInt8] = [
                5, 6, 7, 8, 9, 0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x30, 0xAA,
            ]
            let count = Int.random(in: 0...40, using: &random)
            let kind = FrameKind(rawValue: kinds.randomElement(using: &random) ?? 5)
            let channel = UInt32.random(in: 0...2, using: &random)
            bytes.appendFrame(kind, channel: channel, payload: random.bytes(count).span)
            end.receive(bytes.takeAll())
            _ = end.written()
            end.advance(0.1)
        }
        #expect(end.link.end != nil)
    }
}
