import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9 Sharing a link", .computing)
struct ChannelShareTests {
    private static let wide = LinkLimits(
        maxMessage: 1 << 24, maxChannels: 64, channelCredit: .max, messageCredit: .max)

    private static func end() -> End { End(.init(remote: wide)) }

    /// One call of `fill`.
    private static func fill(_ end: End, upTo room: Int = 131_088) -> [FrameHeader] {
        var output = ByteBuffer()
        _ = end.link.fill(&output, upTo: room, now: end.now)
        #expect(output.count <= room)
        return headers(output.takeAll())
    }

    private static func headers(_ bytes: [UInt8]) -> [FrameHeader] {
        var headers: [FrameHeader] = []
        var offset = 0
        while offset < bytes.count {
            let header = FrameHeader(bytes.span.extracting(offset..<(offset + FrameHeader.byteCount)))
            headers.append(header)
            offset += FrameHeader.byteCount + header.length
        }
        return headers
    }

    /// A channel that always has something to write.
    private static func saturated(_ opening: ChannelOpening, _ end: End, bytes: Int = 1 << 20) -> UInt32 {
        let number = end.link.open(opening)
        let piece = [UInt8].ones(262_144)
        for _ in 0..<max(1, bytes / piece.count) { end.link.write(piece, to: number) }
        return number
    }

    @Test("a message precedes queued bulk data, and control precedes the message [channel.priority]")
    func ahead() {
        let end = Self.end()
        _ = Self.saturated(.resource, end)
        _ = Self.saturated(.stream, end)
        for _ in 0..<5 { _ = Self.fill(end) }
        end.link.enqueue([[1]])
        end.link.probe()
        #expect(Self.fill(end).prefix(2).map(\.kind) == [.ping, .message])
    }

    @Test(
        "a message never waits for more than 64 KiB of bulk, in frames that fill one record [channel.priority]"
    )
    func portions() {
        let end = Self.end()
        _ = Self.saturated(.resource, end, bytes: 4 << 20)
        _ = Self.fill(end, upTo: 2_048)
        for _ in 0..<10 {
            let frames = Self.fill(end, upTo: 1 << 20)
            #expect(frames.map(\.length) == [16_376, 16_376, 16_376, 16_376])
            #expect(frames.allSatisfy { $0.kind == .data })
        }
    }

    @Test(
        "under load each class has its share of the link [channel.starvation]",
        arguments: [(true, true, true), (true, false, true), (true, true, false), (false, true, true)])
    func shares(_ hasMessages: Bool, _ hasStreams: Bool, _ hasResources: Bool) {
        let end = Self.end()
        let message = [UInt8].ones(1_000)
        let stream = hasStreams ? Self.saturated(.stream, end, bytes: 16 << 20) : 0
        let resource = hasResources ? Self.saturated(.resource, end, bytes: 16 << 20) : 0
        var written: [UInt32: Int] = [:]
        _ = Self.fill(end, upTo: 2_048)
        for _ in 0..<100 {
            if hasMessages, end.link.queuedMessages < 1_000 {
                end.link.enqueue(.init(repeating: message, count: 1_000))
            }
            for header in Self.fill(end) { written[header.channel, default: 0] += 8 + header.length }
        }
        let weights = [
            (0 as UInt32, hasMessages, 128), (stream, hasStreams, 64), (resource, hasResources, 16),
        ]
        .filter(\.1)
        let whole = written.values.reduce(0, +)
        let parts = weights.reduce(0) { $0 + $1.2 }
        for (channel, _, weight) in weights {
            let part = Double(written[channel] ?? 0) * Double(parts) / Double(whole) / Double(weight)
            #expect((0.9...1.1).contains(part), "channel \(channel)")
        }
    }

    @Test("long messages have no more than their share, either [channel.starvation]")
    func longMessages() {
        let end = Self.end()
        let resource = Self.saturated(.resource, end, bytes: 16 << 20)
        _ = Self.fill(end, upTo: 2_048)
        var (messages, bulk) = (0, 0)
        for _ in 0..<200 {
            if end.link.queuedMessages < 3 { end.link.enqueue([.ones(1 << 20)]) }
            for header in Self.fill(end) {
                if header.channel == resource {
                    bulk += 8 + header.length
                } else {
                    messages += 8 + header.length
                }
            }
        }
        #expect((7.0...9.0).contains(Double(messages) / Double(bulk)))
    }

    @Test("channels of a class take turns [channel.starvation]")
    func turns() {
        let end = Self.end()
        let numbers = (0..<5).map { _ in Self.saturated(.stream, end) }
        var written: [UInt32: Int] = [:]
        for _ in 0..<25 {
            for header in Self.fill(end) { written[header.channel, default: 0] += header.length }
        }
        let counts = numbers.map { written[$0] ?? 0 }
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 16_376)
    }

    @Test("63 stalled channels do not slow the 64th [channel.starvation]")
    func stalled() {
        let end = End(.init(remote: .small(credit: 1 << 20, channelCredit: 1_000)))
        let numbers = (0..<64).map { _ in Self.saturated(.stream, end) }
        _ = end.written()
        let last = numbers[63]
        end.receive(.credit(channel: last, limit: 1 << 30))
        for _ in 0..<8 {
            let frames = Self.fill(end)
            #expect(frames.count == 4)
            #expect(frames.allSatisfy { $0.channel == last })
        }
    }

    @Test("a stalled channel delays neither messages nor other channels [channel.starvation]")
    func stalledAlone() {
        let end = End(.init(remote: .small(credit: 1 << 20, channelCredit: 1_000)))
        let stalled = Self.saturated(.stream, end)
        _ = end.written()
        end.link.enqueue([[1]])
        let other = end.link.open(.resource)
        end.link.write([2], to: other)
        end.link.finish(other)
        #expect(
            end.frames() == [
                .open(channel: other, .resource), .message([1]), .data(channel: other, [2]),
                .fin(channel: other, sha256: nil),
            ])
        #expect(!end.wantsToSend)
        end.receive(.credit(channel: stalled, limit: 1_001))
        #expect(end.frames() == [.data(channel: stalled, [1])])
    }

    @Test("messages without credit do not delay channels [channel.starvation]")
    func stalledMessages() {
        let end = End(.init(remote: .small(credit: 2_000)))
        let number = end.link.open(.stream)
        end.link.enqueue([.ones(5_000)])
        end.link.write([1], to: number)
        #expect(end.frames() == [.open(channel: number, .stream), .data(channel: number, [1])])
        #expect(!end.wantsToSend)
    }

    @Test(
        "with any buffer from 2,048 bytes on, everything is sent [channel.starvation]",
        arguments: [2_048, 2_100, 5_000, 20_000])
    func smallRooms(_ room: Int) {
        let end = Self.end()
        let digest = [UInt8](repeating: 1, count: 32)
        for opening in [ChannelOpening.stream, .resource] {
            let number = end.link.open(opening)
            end.link.write(.ones(100_000), to: number)
            end.link.finish(number, digest: digest)
        }
        end.link.enqueue([.ones(50_000), .ones(1_000)])
        var counts: [FrameKind: Int] = [:]
        for _ in 0..<500 where end.wantsToSend {
            let frames = Self.fill(end, upTo: room)
            #expect(!frames.isEmpty)
            for header in frames {
                counts[header.kind, default: 0] += header.kind == .fin ? 1 : header.length
            }
        }
        #expect(!end.wantsToSend)
        #expect(counts[.data] == 200_000)
        #expect(counts[.fin] == 2)
        let messages = counts[.message, default: 0] + counts[.messagePart, default: 0]
        #expect(messages == 51_000)
    }

    @Test("OPENs with the longest labels fill the buffer without exceeding it [channel.name]")
    func longNames() {
        let end = Self.end()
        let label = String(repeating: "n", count: Limits.channelName)
        let opening = ChannelOpening(kind: .stream, name: label, metadata: .ones(Limits.channelMetadata))
        for _ in 0..<10 { _ = end.link.open(opening) }
        var opened = 0
        for _ in 0..<20 where opened < 10 {
            let frames = Self.fill(end, upTo: 5_000)
            #expect(frames.count == 2)
            opened += frames.count
        }
        #expect(opened == 10)
    }

    @Test("no OPEN precedes the RESET that makes room for it, however small the buffer [channel.limit]")
    func resetBeforeOpen() {
        let end = End(.init(remote: .small(credit: 1 << 20, channels: 100)))
        let numbers = (0..<100).map { _ in end.link.open(.stream) }
        _ = end.written()
        for number in numbers {
            end.link.reset(number, .cancelled)
            _ = end.link.open(.stream)
        }
        // Room for an OPEN, not for the RESETs before it.
        #expect(Self.fill(end, upTo: 30).isEmpty)
        var (open, most) = (100, 0)
        for _ in 0..<200 where end.wantsToSend {
            for header in Self.fill(end, upTo: 512) {
                if header.kind == .open { open += 1 }
                if header.kind == .reset { open -= 1 }
                most = max(most, open)
            }
        }
        #expect(most <= 100)
        #expect(open == 50)
    }

    @Test("a graceful close waits for messages, not for channels [close.goodbye]")
    func graceful() {
        let end = Self.end()
        _ = Self.saturated(.resource, end)
        end.link.enqueue([[1]])
        end.link.closeWhenDrained(.goodbye, at: end.now)
        end.link.enqueue([[2]])
        let kinds = Self.fill(end, upTo: 1 << 20).map(\.kind)
        #expect(kinds.first == .open)
        #expect(kinds.last == .close)
        #expect(kinds.count { $0 == .message } == 1)
        #expect(end.link.end == .closed(.goodbye))
    }
}
