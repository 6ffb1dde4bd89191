import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("7 Frames on a link", .computing)
struct LinkFrameTests {
    @Test(
        "handshake and invitation frames end the link [frame.order]",
        arguments: [.confirm(mac: [UInt8](repeating: 1, count: 32)), .select, .selected] as [Frame])
    func outOfPlace(_ frame: Frame) {
        let end = End()
        end.receive(frame)
        #expect(end.link.end?.closeCode == .protocolError)
        #expect(end.frames() == [.close(.protocolError, reason: "")])
    }

    @Test("the same holds for a driver that leaves checking the order to the link [frame.order]")
    func outOfPlaceDirect() {
        var link = Link(.init(), now: .start)
        link.receive(FrameHeader(.select, length: 0), owning: [])
        let end = link.end
        #expect(end == .violation(.outOfPlace(.select)))
    }

    @Test("a GREASE frame is sent once on each link, and the peer ignores it [frame.grease]")
    func grease() {
        let pair = Pair(seed: 5)
        pair.settle()
        #expect(pair.isWell)
        #expect(pair.one.link.statistics.ignoredFrames == 1)
        #expect(pair.other.link.statistics.ignoredFrames == 1)
        #expect(!pair.one.wantsToSend)
    }

    @Test(
        "an entry of the mesh is passed on by a mesh link, and ends any other [mesh.plain]",
        arguments: [true, false])
    func entry(_ isMesh: Bool) {
        let endpoint = Endpoint(uid: UID(high: 1, low: 2), instance: 3)
        let entry = Members(origin: endpoint, sequence: 1, members: [])
        let end = End(isMesh: isMesh)
        end.receive(.members(entry), .message([1]))
        #expect(end.link.end == (isMesh ? nil : .violation(.outOfPlace(.members))))
        #expect(end.link.nextEvent() == (isMesh ? .members(entry) : nil))
        #expect(end.messages() == (isMesh ? [[1]] : []))
    }

    @Test(
        "frames for other state machines are passed to the owner, in order, as control frames [limit.control]"
    )
    func handedOn() {
        let end = End()
        let offer = DatagramOffer(association: 1, port: 2_000, flags: 0)
        let codes: [Frame] = [
            .codeRequest, .codeCommit([UInt8](repeating: 1, count: 32)),
            .codeNonce([UInt8](repeating: 2, count: 32)), .codeReveal([UInt8](repeating: 3, count: 32)),
            .codeResult(.ok),
        ]
        end.receive([.datagram(offer)] + codes)
        #expect(end.events() == [.datagramOffered(offer)] + codes.map { .code($0) })
        end.receive([Frame](repeating: .datagram(offer), count: 394))
        #expect(end.link.end == nil)
        end.receive(.codeRequest)
        #expect(end.link.end == .violation(.tooManyControlFrames))
    }

    @Test("the owner's frames are sent unchanged, ahead of messages [channel.priority]")
    func said() {
        let end = End()
        end.link.enqueue([[1]])
        let offer = Frame.datagram(DatagramOffer(association: 1, port: 2_000, flags: 0))
        end.link.say(offer)
        end.link.say(.codeRequest)
        #expect(end.frames() == [offer, .codeRequest, .message([1])])
        #expect(!end.wantsToSend)
    }

    @Test(
        "the owner's frames must be well formed [frame.payload]",
        arguments: [(0x08, 28), (0x09, 10), (0x31, 31), (0x06, 7)])
    func malformed(_ kind: Int, _ count: Int) {
        let end = End()
        end.receive([0, 0, UInt8(count), UInt8(kind), 0, 0, 0, 0] + [UInt8](repeating: 0, count: count))
        #expect(end.link.end?.closeCode == .protocolError)
    }

    @Test(
        "random bytes end the link or do nothing else [frame.header]",
        arguments: 1...50 as ClosedRange<UInt64>)
    func noise(_ seed: UInt64) {
        var random = Seeded(seed)
        let end = End()
        for _ in 0..<200 {
            var bytes = ByteBuffer()
            let kinds: [UInt8] = [
                5, 6, 7, 8, 9, 0x10, 0x11, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x30,
                0xAA,
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
