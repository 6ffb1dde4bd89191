import MultipeerFraming
import TestSupport
import Testing

@Suite("7 Frames: headers", .computing)
struct FrameHeaderTests {
    @Test("length, kind, channel in this order, most significant byte first [frame.header] [int.big-endian]")
    func form() throws {
        let bytes = Samples.raw(0x21, channel: 0x0102_0304, [UInt8](repeating: 0xEE, count: 0x0203))
        #expect(Array(bytes.prefix(8)) == [0, 2, 3, 0x21, 1, 2, 3, 4])
        let header = FrameHeader(bytes.span.extracting(0..<8))
        #expect(header == FrameHeader(.data, channel: 0x0102_0304, length: 0x0203))
    }

    @Test(
        "a payload may be as long as the limit and not a byte longer [frame.limit] [frame.limit-before]",
        arguments: [Limits.frame, Limits.frameBeforeSelect])
    func limit(_ limit: Int) {
        let kind = FrameKind.message.rawValue
        #expect(fault(Samples.raw(kind, [UInt8](repeating: 0, count: limit)), limit: limit) == nil)
        #expect(
            fault(Samples.raw(kind, [UInt8](repeating: 0, count: limit + 1)), limit: limit)
                == .frameTooLong(limit + 1, limit: limit))
    }

    @Test("a header that is too long is refused before any of its payload has arrived [frame.limit]")
    func limitAtHeader() {
        #expect(fault([1, 0, 1, 0x10, 0, 0, 0, 0]) == .frameTooLong(65_537, limit: 65_536))
        #expect(fault([0xFF, 0xFF, 0xFF, 0x10, 0, 0, 0, 0]) == .frameTooLong(0xFF_FFFF, limit: 65_536))
    }

    @Test("the limit is read for each frame [frame.limit-before]")
    func limitChanges() throws {
        struct Growing: FrameSink {
            var frameLimit = Limits.frameBeforeSelect
            var wantsFrames: Bool { true }
            var longest = 0
            mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) {
                if header.kind == .selected { frameLimit = Limits.frame }
                longest = max(longest, payload.count)
            }
        }
        let bytes = Samples.bytes([.selected, .message([UInt8](repeating: 0, count: Limits.frame))])
        var decoder = FrameDecoder()
        var sink = Growing()
        #expect(try decoder.decode(bytes.span, into: &sink) == bytes.count)
        #expect(sink.longest == Limits.frame)
    }

    @Test("an unknown kind below 0x80 is refused, relays too [frame.unknown]", arguments: UInt8(0)..<0x80)
    func unknown(_ kind: UInt8) {
        let known: [ClosedRange<UInt8>] = [0x01...0x09, 0x10...0x11, 0x20...0x28, 0x30...0x34, 0x40...0x44]
        let isKnown = known.contains { $0.contains(kind) }
        #expect(FrameKind(rawValue: kind).isKnown == isKnown)
        if !isKnown {
            #expect(fault(Samples.raw(kind)) == .unknownKind(kind))
            #expect(fault(Samples.raw(kind, channel: 1)) == .unknownKind(kind))
        }
    }

    @Test(
        "a kind from 0x80 on is skipped and counted, on any channel [frame.ignorable]",
        arguments: UInt8(0x80)...0xFF)
    func ignorable(_ kind: UInt8) throws {
        let bytes = Samples.raw(kind, [1, 2, 3]) + Samples.raw(kind, channel: 9) + Samples.bytes(.ping(1))
        var decoder = FrameDecoder()
        var sink = Collector()
        #expect(try decoder.decode(bytes.span, into: &sink) == bytes.count)
        #expect(try sink.frames() == [.ping(1)])
        #expect(decoder.ignoredFrames == 2)
    }

    @Test("a skipped kind obeys the limit, too [frame.ignorable] [frame.limit]")
    func ignorableTooLong() {
        #expect(fault([1, 0, 1, 0x8A, 0, 0, 0, 0]) == .frameTooLong(65_537, limit: 65_536))
    }

    @Test("link frames are allowed on channel 0 only [frame.channel-zero]")
    func onlyOnZero() {
        for kind in Array(UInt8(1)...9) + [0x10, 0x11, 0x30, 0x31, 0x32, 0x33, 0x40, 0x41, 0x42, 0x43, 0x44] {
            #expect(fault(Samples.raw(kind, channel: 1)) == .wrongChannel(FrameKind(rawValue: kind), 1))
        }
    }

    @Test("channel frames are never allowed on channel 0 [frame.channel-zero]")
    func neverOnZero() {
        for kind: UInt8 in [0x20, 0x21, 0x22, 0x23, 0x24, 0x26, 0x27, 0x28] {
            #expect(fault(Samples.raw(kind)) == .wrongChannel(FrameKind(rawValue: kind), 0))
        }
    }

    @Test("each kind is allowed only in its phases [frame.order]")
    func order() {
        let everywhere: Set<UInt8> = [0x05]
        let links: Set<UInt8> = [0x06, 0x07]
        let start = Set<UInt8>(1...4)
        let invitations = Set<UInt8>(0x40...0x44)
        for kind in UInt8.min ... .max where FrameKind(rawValue: kind).isKnown {
            let allowed = [.beforeSelected, .open, .invitation].filter { (order: FrameContext) in
                order.allows(FrameKind(rawValue: kind))
            }
            if everywhere.contains(kind) {
                #expect(allowed == [.beforeSelected, .open, .invitation])
            } else if links.contains(kind) {
                #expect(allowed == [.beforeSelected, .open])
            } else if start.contains(kind) {
                #expect(allowed == [.beforeSelected])
            } else {
                #expect(allowed == (invitations.contains(kind) ? [.invitation] : [.open]))
            }
        }
        #expect(FrameContext.beforeSelected.allows(FrameKind(rawValue: 0x8A)))
    }

    @Test("a kind that is not allowed is refused by its header [frame.order]")
    func orderAtHeader() {
        struct Early: FrameSink {
            /// A sink of no size has no address, which ThreadSanitizer's instrumentation cannot take.
            var frames = 0
            var frameLimit: Int { Limits.frameBeforeSelect }
            var frameContext: FrameContext? { .beforeSelected }
            var wantsFrames: Bool { true }
            mutating func receive(_ header: FrameHeader, _ payload: Span<UInt8>) { frames += 1 }
        }
        var decoder = FrameDecoder()
        var sink = Early()
        #expect(throws: FramingError.unexpectedKind(.message)) {
            _ = try decoder.decode(Samples.raw(0x10, [1]).span.extracting(0..<8), into: &sink)
        }
    }

    @Test("an impossible size is refused by the header [frame.payload]")
    func sizeAtHeader() {
        #expect(fault([0, 0, 9, 0x06, 0, 0, 0, 0]) == .wrongLength(.ping, 9))
        #expect(fault([0, 1, 3, 0x05, 0, 0, 0, 0]) == .wrongLength(.close, 259))
    }

    @Test("after an error the decoder accepts nothing more")
    func afterError() {
        var decoder = FrameDecoder()
        var sink = Collector()
        for bytes in [Samples.raw(0), Samples.bytes(.ping(1))] {
            do throws(FramingError) {
                _ = try decoder.decode(bytes.span, into: &sink)
                Issue.record("took \(bytes)")
            } catch {
                #expect(error == .unknownKind(0))
            }
        }
        #expect(sink.pieces.isEmpty)
    }
}
