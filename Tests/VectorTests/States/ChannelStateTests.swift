import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("9.9 States of a channel", .computing)
struct ChannelStateTests {
    @Test(
        "at its opener a channel behaves as in states.json [channel.stop] [channel.closed] [channel.fin] [channel.credit-grow] [resource.done] [resource.resumable] [resource.begin] [stream.end]",
        arguments: try ChannelRow.all(of: \.opener))
    func opener(_ row: ChannelRow) {
        // A stream has no state after FIN, and a resource that is open ends its FIN in another.
        for isResource in [true, false] where isResource || !row.isOfResource {
            if row.event == "openedResumable", !isResource { continue }
            if row.event == "finishedStream", isResource || row.state == "finished" { continue }
            if row.event == "finishedResource", !isResource { continue }
            var bench = OpenerBench(isResource: isResource, isResumable: row.isResumable)
            bench.bring(to: row.state)
            bench.apply(row.event)
            bench.check(row)
        }
    }

    @Test(
        "at its receiver a channel behaves as in states.json [channel.late] [channel.closed] [channel.fin] [channel.number] [channel.kind] [channel.credit-limit] [resource.done] [resource.resumable] [resource.begin]",
        arguments: try ChannelRow.all(of: \.receiver))
    func receiver(_ row: ChannelRow) {
        for isResource in [true, false] where isResource || !row.isOfResource {
            if row.event == "finStream", isResource || row.state == "finished" { continue }
            if row.event == "finResource", !isResource { continue }
            // The machine is asked for DONE only where one is due.
            if row.event == "doneAsked", row.state != "finished" { continue }
            if row.event == "openResumable", !isResource { continue }
            var bench = ReceiverBench(isResource: isResource, isResumable: row.isResumable)
            bench.bring(to: row.state)
            bench.apply(row.event)
            bench.check(row)
        }
    }
}

extension ChannelRow {
    /// Whether only a resource has this state.
    fileprivate var isOfResource: Bool { ["finished", "offered", "resuming"].contains(state) }

    /// Whether the channel of the row is opened with RESUMABLE.
    fileprivate var isResumable: Bool {
        ["offered", "resuming"].contains(state) || event == "openedResumable" && state == "waiting"
    }
}

/// Channel 1 of our own, which waits for its place while `isWaiting`.
private struct OpenerBench: ~Copyable {
    private var end: LinkEndpoint
    private var events: [ChannelEvent] = []
    private var written: [Frame] = []
    private let opening: ChannelOpening
    private var channel: UInt32 = 0

    init(isResource: Bool, isResumable: Bool) {
        opening = ChannelOpening(
            kind: isResource ? .resource : .stream, name: "it", size: isResumable ? 9 : nil,
            isResumable: isResumable)
        let remote = LinkLimits(
            maxMessage: 1 << 24, maxChannels: 1, channelCredit: 4_096, messageCredit: 1 << 20)
        end = LinkEndpoint(local: .standard, remote: remote)
    }

    mutating func bring(to state: String) {
        // Another channel has the only place until the one of the table is to go.
        let blocker = end.link.open(ChannelOpening(kind: .stream, name: "before"))
        note()
        channel = end.link.open(opening)
        note()
        if state != "waiting" { end.link.reset(blocker, .cancelled) }
        note()
        if state == "resuming" { end.receive(Frame.resume(channel: channel, .of(4)).bytes) }
        if state == "finished" { end.link.finish(channel) }
        if state == "closed" { end.link.reset(channel, .cancelled) }
        note()
        (events, written) = ([], [])
    }

    mutating func apply(_ event: String) {
        switch event {
        case "opened", "openedResumable": end.link.reset(1, .cancelled)
        case "finishedStream", "finishedResource": end.link.finish(channel)
        case "aborted": end.link.reset(channel, .busy)
        case "credit": end.receive(Frame.credit(channel: channel, limit: 8_192).bytes)
        case "creditWrong": end.receive(Frame.credit(channel: channel, limit: 4_096).bytes)
        case "stop": end.receive(Frame.stop(channel: channel, .busy).bytes)
        case "done": end.receive(Frame.done(channel: channel, .digest).bytes)
        case "resume": end.receive(Frame.resume(channel: channel, .of(9)).bytes)
        case "resumeBeyond": end.receive(Frame.resume(channel: channel, .of(10)).bytes)
        case "begun": end.link.begin(channel, at: 4)
        default: Issue.record("\(event) is not an event that this test knows")
        }
        note()
    }

    mutating func check(_ row: ChannelRow) {
        let closeCode = end.violation?.closeCode
        #expect((closeCode != nil) == row.actions.contains("violate"), "\(row)")
        if let closeCode { #expect(closeCode.name == row.code, "\(row)") }
        guard closeCode == nil else { return }
        let resets = written.contains(.reset(channel: channel, .busy))
        #expect(resets == row.actions.contains("sendReset"), "\(row)")
        let begins = written.contains(.begin(channel: channel, offset: 4))
        #expect(begins == row.actions.contains("sendBegin"), "\(row)")
        let reports = events.contains { event in
            switch event {
            case .began(channel), .ended(channel), .stopped(channel, .busy), .completed(channel, .digest),
                .resumes(channel, .of(9)):
                true
            default: false
            }
        }
        #expect(
            reports
                == (row.actions.contains("report")
                    || row.event == "finishedResource" && row.next != row.state))
    }

    private mutating func note() {
        written += end.written()
        events += end.link.takeChannelEvents()
    }
}

/// Channel 1 of the peer.
private struct ReceiverBench: ~Copyable {
    private var end = LinkEndpoint(
        local: LinkLimits(maxMessage: 1 << 24, maxChannels: 4, channelCredit: 4_096, messageCredit: 1 << 20),
        remote: .standard)
    private var events: [ChannelEvent] = []
    private var written: [Frame] = []
    private let kind: ChannelOpening.Kind
    private let isResumable: Bool

    init(isResource: Bool, isResumable: Bool) {
        kind = isResource ? .resource : .stream
        self.isResumable = isResumable
    }

    mutating func bring(to state: String) {
        guard state != "unopened" else { return }
        apply(isResumable ? "openResumable" : "open")
        switch state {
        case "resuming": apply("resumeAsked")
        case "finished": apply("finResource")
        case "stopped": apply("stopAsked")
        case "closed": apply("reset")
        default: break
        }
        (events, written) = ([], [])
    }

    mutating func apply(_ event: String) {
        switch event {
        case "open": end.receive(Frame.open(channel: 1, ChannelOpening(kind: kind, name: "it")).bytes)
        case "openResumable":
            end.receive(
                Frame.open(
                    channel: 1, ChannelOpening(kind: .resource, name: "it", size: 9, isResumable: true)
                ).bytes)
        case "resumeAsked": end.link.resume(1, .of(4))
        case "begin": end.receive(Frame.begin(channel: 1, offset: 4).bytes)
        case "beginWrong": end.receive(Frame.begin(channel: 1, offset: 5).bytes)
        case "openUnknown":
            let kind = ChannelOpening.Kind(rawValue: 0x77)
            end.receive(Frame.open(channel: 1, ChannelOpening(kind: kind, name: "it")).bytes)
        case "data": end.receive(Frame.data(channel: 1, [1, 2, 3]).bytes)
        case "dataBeyond": end.receive(Frame.data(channel: 1, [UInt8](repeating: 1, count: 4_097)).bytes)
        case "finStream", "finResource": end.receive(Frame.fin(channel: 1, sha256: nil).bytes)
        case "reset": end.receive(Frame.reset(channel: 1, .cancelled).bytes)
        case "stopAsked": end.link.stop(1, .noSpace)
        case "doneAsked": end.link.done(1, .noSpace)
        default: Issue.record("\(event) is not an event that this test knows")
        }
        written += end.written()
        events += end.link.takeChannelEvents()
    }

    mutating func check(_ row: ChannelRow) {
        let closeCode = end.violation?.closeCode
        #expect((closeCode != nil) == row.actions.contains("violate"), "\(row)")
        if let closeCode { #expect(closeCode.name == row.code, "\(row)") }
        guard closeCode == nil else { return }
        #expect(
            events.isEmpty == Set(row.actions).isDisjoint(with: ["announce", "deliver", "report"]), "\(row)")
        let code: CloseCode = row.code == "DECLINED" ? .declined : .noSpace
        #expect(written.contains(.stop(channel: 1, code)) == row.actions.contains("sendStop"), "\(row)")
        let resumes = written.contains(.resume(channel: 1, .of(4)))
        #expect(resumes == row.actions.contains("sendResume"), "\(row)")
        #expect(written.contains(.done(channel: 1, code)) == row.actions.contains("sendDone"), "\(row)")
    }
}

extension ResumeOffer {
    fileprivate static func of(_ offset: UInt64) -> ResumeOffer {
        ResumeOffer(offset: offset, sha256: [UInt8](repeating: 7, count: 32))
    }
}
