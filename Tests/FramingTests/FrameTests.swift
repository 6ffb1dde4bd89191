import MultipeerCore
import MultipeerFraming
import TestSupport
import Testing

@Suite("7 Frames: payloads", .computing)
struct FrameTests {
    @Test("every kind of frame survives a round trip", arguments: Samples.frames)
    func roundTrip(_ frame: Frame) throws {
        #expect(try decode(Samples.bytes(frame)) == frame)
    }

    @Test("every kind of frame is read at any alignment", arguments: 0..<8)
    func alignment(_ offset: Int) throws {
        for frame in Samples.frames {
            let bytes = [UInt8](repeating: 0xff, count: offset) + Samples.bytes(frame)
            let there = bytes.span.extracting(droppingFirst: offset)
            let header = FrameHeader(there.extracting(0..<8))
            #expect(try Frame(header, there.extracting(droppingFirst: 8)) == frame)
        }
    }

    @Test("an ignorable frame is read on request")
    func ignorable() throws {
        let frame = Frame.ignorable(FrameKind(rawValue: 0xFA), channel: 3, [1])
        let bytes = Samples.bytes(frame)
        let header = FrameHeader(bytes.span.extracting(0..<8))
        #expect(try Frame(header, bytes.span.extracting(8..<9)) == frame)
    }

    @Test(
        "a payload of a fixed size has exactly that size [frame.payload]",
        arguments: [
            (0x02, 32), (0x03, 0), (0x04, 0), (0x06, 8), (0x07, 8), (0x09, 11), (0x23, 2), (0x24, 2),
            (0x25, 8),
            (0x26, 2), (0x27, 40), (0x28, 8), (0x30, 0), (0x31, 32), (0x32, 32), (0x33, 32),
        ] as [(UInt8, Int)])
    func fixedSize(_ kind: UInt8, _ size: Int) {
        let channel: UInt32 = (0x20..<0x30).contains(kind) ? 1 : 0
        for wrong in [0, size - 1, size, size + 1, size + 256] where wrong >= 0 {
            let bytes = Samples.raw(kind, channel: channel, [UInt8](repeating: 1, count: wrong))
            #expect(fault(bytes) == (wrong == size ? nil : .wrongLength(FrameKind(rawValue: kind), wrong)))
        }
    }

    @Test("numbers in payloads have their most significant byte first [int.big-endian]")
    func bigEndian() throws {
        #expect(Samples.bytes(.ping(0x0102)).suffix(8) == [0, 0, 0, 0, 0, 0, 1, 2])
        let done = Frame.done(channel: 1, CloseCode(rawValue: 0x0102))
        #expect(try decode(Samples.raw(0x26, channel: 1, [1, 2])) == done)
    }

    @Test("a CLOSE reason has at most 256 bytes [close.reason]")
    func longReason() throws {
        let longest = Frame.close(.ok, reason: String(repeating: "x", count: 256))
        #expect(try decode(Samples.bytes(longest)) == longest)
        let tooLong = Samples.raw(0x05, [0, 0] + [UInt8](repeating: 0x78, count: 257))
        #expect(fault(tooLong) == .wrongLength(.close, 259))
        #expect(fault(Samples.raw(0x05, [0])) == .wrongLength(.close, 1))
        #expect(fault(Samples.raw(0x05)) == .wrongLength(.close, 0))
    }

    @Test("a longer reason is truncated before it is sent, never inside a character [close.reason]")
    func cutReason() throws {
        let fits = String(repeating: "x", count: 255)
        let sent = Samples.bytes(.close(.ok, reason: fits + "é"))
        #expect(try decode(sent) == .close(.ok, reason: fits))
    }

    @Test("a CLOSE reason is valid UTF-8 [close.reason]", arguments: TextTests.notUTF8)
    func badReason(_ bytes: [UInt8]) {
        #expect(fault(Samples.raw(0x05, [0, 1] + bytes)) == .invalidText)
    }

    @Test("MEMBERS must contain as many entries as it counts, at most 32")
    func members() throws {
        let most = Members(
            origin: Samples.ann, sequence: 1, members: Array(repeating: Samples.bob, count: 32))
        #expect(try decode(Samples.bytes(.members(most))) == .members(most))
        let start = [UInt8](repeating: 0, count: 28)
        #expect(fault(Samples.raw(0x08, start + [33])) == .tooManyMembers(33))
        #expect(fault(Samples.raw(0x08, start + [1] + [UInt8](repeating: 0, count: 23))) == .truncated)
        #expect(fault(Samples.raw(0x08, start)) == .truncated)
        // No list, then lengths of the data and the certificate that exceed what is left.
        for lengths in [[], [0], [0, 1], [0, 1, 9, 0], [0, 0, 0, 1]] as [[UInt8]] {
            #expect(fault(Samples.raw(0x08, start + [0] + lengths)) == .truncated)
        }
        #expect(FramingError.tooManyMembers(33).closeCode == .flood)
    }

    @Test("the digest of FIN has 32 bytes")
    func fin() {
        #expect(fault(Samples.raw(0x22, channel: 1, [0, 1, 0, 1, 0])) == .wrongFieldLength(1, 1))
    }
}

@Suite("8 Channels: OPEN", .computing)
struct ChannelOpeningTests {
    static let kind: [UInt8] = [0, 1, 0, 1, 1]
    static let name: [UInt8] = [0, 2, 0, 1, 0x61]

    static func opening(_ fields: [UInt8]) -> [UInt8] { Samples.raw(0x20, channel: 1, fields) }

    @Test("kind and name are mandatory")
    func mandatory() {
        #expect(fault(ChannelOpeningTests.opening(ChannelOpeningTests.kind)) == .missingField(2))
        #expect(fault(ChannelOpeningTests.opening(ChannelOpeningTests.name)) == .missingField(1))
    }

    @Test("the name is UTF-8 of 1 to 1,024 bytes")
    func names() {
        let kind = ChannelOpeningTests.kind
        func named(_ bytes: [UInt8]) -> FramingError? {
            let head: [UInt8] = [0, 2, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
            return fault(ChannelOpeningTests.opening(kind + head + bytes))
        }
        #expect(named([]) == .wrongFieldLength(2, 0))
        #expect(named([UInt8](repeating: 0x61, count: 1_024)) == nil)
        #expect(named([UInt8](repeating: 0x61, count: 1_025)) == .wrongFieldLength(2, 1_025))
        #expect(named([0xFF]) == .invalidText)
    }

    @Test("a size has 8 bytes, what is resumable has a size and is no stream [resource.resumable]")
    func others() {
        let start = ChannelOpeningTests.kind + ChannelOpeningTests.name
        #expect(fault(ChannelOpeningTests.opening(start + [0, 3, 0, 1, 1])) == .wrongFieldLength(3, 1))
        #expect(fault(ChannelOpeningTests.opening(start + [0, 5, 0, 1, 1])) == .wrongFieldLength(5, 1))
        #expect(fault(ChannelOpeningTests.opening(start + [0, 5, 0, 0])) == .wrongFieldValue(5))
    }
}

@Suite("11 Invitations: INVITE", .computing)
struct InviteTests {
    @Test("id, inviter, recipient and timeout are mandatory, the context is not")
    func mandatory() {
        let whole = Array(Samples.bytes(.invite(Samples.invite)).dropFirst(8))
        let fields = [0..<20, 20..<43, 43..<63, 63..<71, 71..<78].map { Array(whole[$0]) }
        for type in 1...5 {
            var some = fields
            some.remove(at: type - 1)
            let expected: FramingError? = type == 5 ? nil : .missingField(UInt16(type))
            #expect(fault(Samples.raw(0x40, some.flatMap { $0 })) == expected)
        }
        let nameless: [UInt8] = [0, 2, 0, 16] + Samples.ann.uid.bytes
        #expect(fault(Samples.raw(0x40, fields[0] + nameless)) == .wrongFieldLength(2, 16))
    }

    @Test("an inviter's name obeys the rules for names [peer.name]")
    func inviterName() {
        var invite = Samples.invite
        invite.inviterName = "a\u{202E}b"
        #expect(fault(Samples.bytes(.invite(invite))) == .invalidText)
    }

    @Test("the context has at most 32,768 bytes")
    func context() throws {
        var invite = Samples.invite
        invite.context = [UInt8](repeating: 1, count: 32_768)
        #expect(try decode(Samples.bytes(.invite(invite))) == .invite(invite))
        invite.context?.append(1)
        #expect(fault(Samples.bytes(.invite(invite))) == .wrongFieldLength(5, 32_769))
    }
}
