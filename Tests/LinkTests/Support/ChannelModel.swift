import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

/// A simple model of what one owner knows of its channels: it decides which events a link may report.
final class ChannelModel {
    struct Own {
        let opening: ChannelOpening
        var hasBegun = false
        var written = 0
        var pieces = 0
        var gone = 0
        var gonePieces = 0
        var digest: [UInt8]?
        var isFinished = false
        var reset: CloseCode?
        /// How it ended, as the link reported; a stream ends with `ended`.
        var endings: [ChannelEvent] = []
        var isOver: Bool { reset != nil || !endings.isEmpty }
    }

    struct Peers {
        let opening: ChannelOpening
        var received = 0
        var consumed = 0
        var isFinished = false
        var stop: CloseCode?
        var done: CloseCode?
        var aborted: CloseCode?
        var isOver: Bool {
            stop != nil || done != nil || aborted != nil || isFinished && opening.kind == .stream
        }
        var held: Int { stop != nil || done != nil || aborted != nil ? 0 : received - consumed }
    }

    let end: End
    private(set) var own: [UInt32: Own] = [:]
    private(set) var peers: [UInt32: Peers] = [:]
    private var announced: [Int] = []
    private var random: Seeded

    init(_ end: End, seed: UInt64) {
        self.end = end
        random = Seeded(seed)
    }

    /// Returns the bytes of a channel at a place, the same on both sides.
    private static func bytes(_ number: UInt32, _ range: Range<Int>) -> ArraySlice<UInt8> {
        let start = (Int(number) * 31 + range.lowerBound) % period
        return pattern[start..<(start + range.count)]
    }

    private static let period = 251
    private static let pattern = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % period * 7) }
}

// MARK: what owners do

extension ChannelModel {
    func act() {
        if own.values.count(where: { !$0.isOver }) < 12, Int.random(in: 0..<3, using: &random) == 0 { open() }
        for number in own.keys.sorted() where own[number]?.isOver == false { actOnOwn(number) }
        for number in peers.keys.sorted() { actOnPeers(number, eagerly: false) }
        if Bool.random(using: &random) { take() }
        end.link.enqueue([random.bytes(Int.random(in: 0...300, using: &random))])
        for message in end.link.takeMessages() { end.link.consumed(message.cost) }
    }

    /// Brings everything to its end.
    func finish() {
        for number in own.keys.sorted() where own[number]?.isOver == false { finish(number) }
        for number in peers.keys.sorted() { actOnPeers(number, eagerly: true) }
        take()
        for message in end.link.takeMessages() { end.link.consumed(message.cost) }
    }

    func open() {
        let isStream = Bool.random(using: &random)
        let opening = ChannelOpening(
            kind: isStream ? .stream : .resource, name: "c", size: isStream ? nil : 9)
        let number = end.link.open(opening)
        #expect(own[number] == nil && number > (own.keys.max() ?? 0))
        own[number] = Own(opening: opening)
    }

    private func actOnOwn(_ number: UInt32) {
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<8 where own[number]?.isFinished == false: write(number)
        case 8: finish(number)
        case 9:
            let code = CloseCode(rawValue: UInt16.random(in: 0...20, using: &random))
            end.link.reset(number, code)
            // FIN of a stream that went is the end already; this model takes events at once, so it knows.
            own[number]?.reset = code
        default: break
        }
    }

    private func write(_ number: UInt32) {
        let size = Bool.random(using: &random) ? Int.random(in: 0...50, using: &random) : 30_000
        let start = own[number]?.written ?? 0
        end.link.write(Array(Self.bytes(number, start..<(start + size))), to: number)
        own[number]?.written += size
        own[number]?.pieces += 1
    }

    private func finish(_ number: UInt32) {
        guard own[number]?.isFinished == false else { return }
        let digest = Bool.random(using: &random) ? random.bytes(32) : nil
        end.link.finish(number, digest: digest)
        own[number]?.digest = digest
        own[number]?.isFinished = true
    }

    private func actOnPeers(_ number: UInt32, eagerly: Bool) {
        guard let channel = peers[number] else { return }
        if channel.held > 0, eagerly || Bool.random(using: &random) {
            let count = eagerly ? channel.held : Int.random(in: 1...channel.held, using: &random)
            end.link.consumed(count, of: number)
            peers[number]?.consumed += count
        }
        guard !channel.isOver else { return }
        let code = CloseCode(rawValue: UInt16.random(in: 0...20, using: &random))
        if channel.isFinished, eagerly || Int.random(in: 0..<5, using: &random) == 0 {
            end.link.done(number, code)
            peers[number]?.done = code
        } else if !channel.isFinished, !eagerly, Int.random(in: 0..<60, using: &random) == 0 {
            end.link.stop(number, code)
            peers[number]?.stop = code
        }
    }

    private func take() {
        for cost in announced { end.link.consumed(cost) }
        announced = []
    }
}

// MARK: events of links

extension ChannelModel {
    /// Compares the link's events with what the other owner did.
    func check(against other: ChannelModel) {
        for event in end.channelEvents() {
            switch event {
            case .opened(let number, let opening, let cost): opened(number, opening, cost, by: other)
            case .data(let number, let bytes): received(bytes, on: number)
            case .finished(let number, let digest): finished(number, digest, by: other)
            case .aborted(let number, let code):
                #expect(peers[number]?.isOver == false)
                #expect(other.own[number]?.reset == code)
                peers[number]?.aborted = code
            case .began, .wrote: progressed(event)
            case .begins, .resumes: Issue.record("no resource of this model is resumable")
            case .ended(let number), .stopped(let number, _), .completed(let number, _):
                ended(number, event, by: other)
            }
        }
        #expect(end.link.heldBytes == peers.values.reduce(0) { $0 + $1.held })
        #expect(peers.values.allSatisfy { $0.held <= ChannelModelTests.window })
    }

    private func opened(_ number: UInt32, _ opening: ChannelOpening, _ cost: Int, by other: ChannelModel) {
        #expect(peers[number] == nil)
        #expect(other.own[number]?.opening == opening)
        peers[number] = Peers(opening: opening)
        announced.append(cost)
    }

    private func received(_ bytes: [UInt8], on number: UInt32) {
        let start = peers[number]?.received ?? 0
        #expect(peers[number]?.isOver == false && peers[number]?.isFinished == false)
        #expect(!bytes.isEmpty && bytes[...] == Self.bytes(number, start..<(start + bytes.count)))
        peers[number]?.received += bytes.count
    }

    private func finished(_ number: UInt32, _ digest: [UInt8]?, by other: ChannelModel) {
        #expect(peers[number]?.isOver == false && peers[number]?.isFinished == false)
        #expect(other.own[number]?.isFinished == true)
        #expect(other.own[number]?.digest == digest)
        #expect(other.own[number]?.written == peers[number]?.received)
        peers[number]?.isFinished = true
    }

    private func progressed(_ event: ChannelEvent) {
        switch event {
        case .began(let number):
            #expect(own[number]?.hasBegun == false && own[number]?.isOver == false)
            own[number]?.hasBegun = true
        case .wrote(let number, let pieces, let bytes):
            #expect(own[number]?.isOver == false)
            own[number]?.gone += bytes
            own[number]?.gonePieces += pieces
            let channel = own[number]
            #expect((channel?.gone ?? 0) <= channel?.written ?? 0)
            #expect((channel?.gonePieces ?? 0) <= channel?.pieces ?? 0)
        default: break
        }
    }

    private func ended(_ number: UInt32, _ event: ChannelEvent, by other: ChannelModel) {
        guard let channel = own[number] else { return #expect(Bool(false), "nobody opened \(number)") }
        #expect(!channel.isOver)
        switch event {
        case .ended:
            #expect(
                channel.isFinished && channel.gone == channel.written && channel.gonePieces == channel.pieces)
            if channel.opening.kind == .stream { own[number]?.endings.append(event) }
        case .stopped(_, let code):
            #expect(other.peers[number]?.stop == code)
            own[number]?.endings.append(event)
        case .completed(_, let code):
            #expect(other.peers[number]?.done == code)
            own[number]?.endings.append(event)
        default: break
        }
    }

    /// Checks that nothing is left open, and nothing is held.
    func checkOver() {
        #expect(own.values.allSatisfy { ($0.reset == nil ? 0 : 1) + $0.endings.count == 1 })
        #expect(peers.values.allSatisfy { $0.isOver })
        #expect(end.link.heldBytes == 0)
    }
}
