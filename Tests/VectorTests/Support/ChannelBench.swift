import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import Testing

/// One end of a link whose channels a vector drives. It writes at once whatever may be written.
struct ChannelBench: ~Copyable {
    private var end: LinkEndpoint
    private var events: [String] = []
    private var written: [String] = []
    private var costs: [UInt32: Int] = [:]
    private var resources: Set<UInt32> = []
    private var unfinished: Set<UInt32> = []
    /// The last numbers that were opened.
    private var highestOfPeer: UInt32 = 0
    private var highestOwn: UInt32 = 0

    init(local: ChannelSteps.Limits, remote: ChannelSteps.Limits) {
        end = LinkEndpoint(local: LinkLimits(local), remote: LinkLimits(remote))
    }

    /// The peer's violation: the check of 9.8, and the code that it is sent.
    var fault: Fault? { end.violation.map { Fault(check($0), $0.closeCode.name) } }

    mutating func apply(_ step: ChannelSteps.Step) throws {
        if let at = step.at { end.now = .after(at) }
        let channel = step.channel ?? 0
        let code = try step.code.map { name in
            try #require((0...20).map(CloseCode.init(rawValue:)).first { $0.name == name })
        }
        switch step.do {
        case "receive":
            for round in 0..<(step.count ?? 1) {
                for piece in try #require(step.frames) {
                    end.receive(try piece.bytes(UInt32(round) * (step.stride ?? 0)))
                    note()
                }
            }
        case "open":
            let kind = ChannelOpening.Kind(rawValue: try #require(step.kind))
            _ = end.link.open(
                ChannelOpening(
                    kind: kind, name: try #require(step.name), size: step.size,
                    isResumable: step.resumable ?? false))
        case "write":
            end.link.write([UInt8](repeating: 0xCD, count: try #require(step.length)), to: channel)
        case "resume":
            let sha256 = try #require(step.sha256)
            end.link.resume(channel, ResumeOffer(offset: try #require(step.offset), sha256: sha256.bytes))
        case "begin": end.link.begin(channel, at: try #require(step.offset))
        case "finish": end.link.finish(channel)
        case "reset": end.link.reset(channel, try #require(code))
        case "accept": end.link.consumed(try #require(costs[channel]))
        case "take": end.link.consumed(try #require(step.length), of: channel)
        case "stop":
            // Behind FIN of a resource the answer is DONE. 9.6
            if resources.contains(channel), !unfinished.contains(channel) {
                end.link.done(channel, try #require(code))
            } else {
                end.link.stop(channel, try #require(code))
            }
        case "done": end.link.done(channel, try #require(code))
        case "look": end.link.advance(to: end.now)
        default: Issue.record("there is no step \(step.do)")
        }
        note()
    }

    mutating func takeNotes() -> (events: [String], written: [String]) {
        defer { (events, written) = ([], []) }
        return (inOrderOfChannels(events), inOrderOfChannels(written))
    }

    private mutating func note() {
        for frame in end.written() { add(frame) }
        for event in end.link.takeChannelEvents() { add(event) }
        while end.link.nextEvent() != nil {}
    }

    private mutating func add(_ event: ChannelEvent) {
        switch event {
        case .opened(let channel, let opening, let cost):
            costs[channel] = cost
            highestOfPeer = channel
            unfinished.insert(channel)
            if opening.kind == .resource { resources.insert(channel) }
            events.append("opened \(channel)")
        case .data(let channel, let bytes):
            if !bytes.isEmpty { events.append("data \(channel) \(bytes.count)") }
        case .finished(let channel, let digest):
            unfinished.remove(channel)
            events.append("finished \(channel)" + (digest.map { " \(Hex($0))" } ?? ""))
        case .begins(let channel, let offset): events.append("begins \(channel) \(offset)")
        case .resumes(let channel, let offer):
            events.append("resumes \(channel) \(offer.offset) \(Hex(offer.sha256))")
        case .aborted(let channel, let code): events.append("aborted \(channel) \(code.name)")
        case .began(let channel): events.append("began \(channel)")
        case .wrote: break
        case .ended(let channel):
            // A resource is over with DONE only; the vectors do not state when its FIN was written.
            if !own.contains(channel) { events.append("ended \(channel)") }
        case .stopped(let channel, let code): events.append("stopped \(channel) \(code.name)")
        case .completed(let channel, let code): events.append("completed \(channel) \(code.name)")
        }
    }

    /// The numbers of our own resources.
    private var own: Set<UInt32> = []

    private mutating func add(_ frame: Frame) {
        switch frame {
        case .open(let channel, let opening):
            if opening.kind == .resource { own.insert(channel) }
            highestOwn = channel
            written.append("OPEN \(channel)")
        case .data(let channel, let bytes): written.append("DATA \(channel) \(bytes.count)")
        case .fin(let channel, _): written.append("FIN \(channel)")
        case .reset(let channel, let code): written.append("RESET \(channel) \(code.name)")
        case .stop(let channel, let code): written.append("STOP \(channel) \(code.name)")
        case .done(let channel, let code): written.append("DONE \(channel) \(code.name)")
        case .resume(let channel, let offer):
            written.append("RESUME \(channel) \(offer.offset) \(Hex(offer.sha256))")
        case .begin(let channel, let offset): written.append("BEGIN \(channel) \(offset)")
        case .credit(let channel, let limit): written.append("CREDIT \(channel) \(limit)")
        case .close: break
        default: written.append("\(frame)")
        }
    }
}

/// Returns the lines by channel: only the order within a channel counts, and bytes are added up. Lines are `WORD
/// CHANNEL …`.
func inOrderOfChannels(_ lines: [String]) -> [String] {
    let ofTheirs: Set = [
        "CREDIT", "STOP", "DONE", "RESUME", "opened", "begins", "data", "finished", "aborted",
    ]
    let keyed = lines.enumerated().map { index, line -> (key: [Int], words: [Substring]) in
        let words = line.split(separator: " ")
        return ([Int(words[1]) ?? 0, ofTheirs.contains(String(words[0])) ? 0 : 1, index], words)
    }
    var found: [[Substring]] = []
    for line in keyed.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        if let last = found.last, last.prefix(2) == line.words.prefix(2),
            ["data", "DATA"].contains(line.words[0])
        {
            let sum = (Int(last[2]) ?? 0) + (Int(line.words[2]) ?? 0)
            found[found.count - 1][2] = "\(sum)"
        } else {
            found.append(line.words)
        }
    }
    return found.map { $0.joined(separator: " ") }
}

extension LinkLimits {
    fileprivate init(_ limits: ChannelSteps.Limits) {
        self.init(
            maxMessage: 1 << 24, maxChannels: limits.maxChannels, channelCredit: limits.channelCredit,
            messageCredit: limits.messageCredit)
    }
}

extension ChannelBench {
    private func check(_ violation: Violation) -> String {
        switch violation {
        case .framing: "entries"
        case .channelOutOfTurn: "number"
        case .tooManyChannels: "places"
        case .beyondMessageCredit: "cost"
        case .channelNotOpen(let kind, let number):
            number > (Self.openersKinds.contains(kind) ? highestOfPeer : highestOwn) ? "opened" : "closed"
        case .tooManyEmptyFrames: "empty"
        case .beyondChannelCredit: "credit"
        case .doneTooEarly: "done"
        case .badOffset: "offset"
        case .creditDidNotGrow: "grow"
        case .tooManyControlFrames: "budget"
        case .tooManyResets: "resets"
        default: "\(violation)"
        }
    }

    private static let openersKinds: Set<FrameKind> = [.begin, .data, .fin, .reset]
}
