import MultipeerCore
package import MultipeerFraming
import MultipeerLink

/// What a reader of a peer's channel has done since its last report.
package struct ReaderReport: Equatable, Sendable {
    /// The number of bytes that it has taken.
    package var consumed: Int
    /// The reason why it accepts no more data, if it stopped.
    package var stop: CloseCode?
    /// What it has of a resumable resource.
    package var resume: ResumeOffer?
    /// The result of a resource.
    package var done: CloseCode?
    /// Whether all received data are taken.
    package var isDrained: Bool

    package init(
        consumed: Int = 0, stop: CloseCode? = nil, resume: ResumeOffer? = nil, done: CloseCode? = nil,
        isDrained: Bool = false
    ) {
        self.consumed = consumed
        self.stop = stop
        self.resume = resume
        self.done = done
        self.isDrained = isDrained
    }
}

/// The channels of one link that have not ended.
struct LinkChannels {
    /// Our own channels that have not ended.
    var outgoing: [UInt32: ChannelOpening.Kind] = [:]
    /// The peer's channels that are not both ended and read.
    var incoming: [UInt32: Incoming] = [:]
    /// Whether the peer has opened a channel, or answered one.
    private(set) var hasHeard = false

    struct Incoming {
        let kind: ChannelOpening.Kind
        /// Whether FIN was received.
        var isFinished = false
    }

    mutating func note(_ event: ChannelEvent) {
        switch event {
        case .opened(let number, let opening, cost: _): incoming[number] = Incoming(kind: opening.kind)
        case .finished(let number, digest: _): incoming[number]?.isFinished = true
        case .aborted(let number, _): incoming[number] = nil
        case .ended(let number): if outgoing[number] == .stream { outgoing[number] = nil }
        case .stopped(let number, _), .completed(let number, _): outgoing[number] = nil
        case .data, .begins, .began, .resumes, .wrote: break
        }
        switch event {
        case .opened, .begins, .data, .finished, .aborted, .resumes, .stopped, .completed: hasHeard = true
        case .began, .wrote, .ended: break
        }
    }
}

extension LinkedPeer {
    func open(_ opening: ChannelOpening) -> UInt32 {
        let number = link.open(opening)
        channels.outgoing[number] = opening.kind
        return number
    }

    func reset(_ channel: UInt32, _ code: CloseCode, at now: Moment) {
        channels.outgoing[channel] = nil
        link.reset(channel, code)
        _ = sayGoodbyeWhenDrained(at: now)
    }

    /// Drops what waits on a channel of a session that leaves: the peer learns from GOODBYE why it fails.
    func drop(_ channel: UInt32, at now: Moment) {
        channels.outgoing[channel] = nil
        link.drop(channel)
        _ = sayGoodbyeWhenDrained(at: now)
    }

    /// Handles a reader's report. Returns whether the channel has ended: no more events of it follow.
    /// `spare`: the bytes by which the channel's window may grow.
    func read(_ report: ReaderReport, of channel: UInt32, spare: Int) -> Bool {
        guard let place = channels.incoming[channel] else { return true }
        if let code = report.stop, !place.isFinished {
            channels.incoming[channel] = nil
            link.stop(channel, code)  // [channel.stop]
            return true
        }
        if let offer = report.resume { link.resume(channel, offer) }  // [resource.resumable]
        if report.consumed > 0 { link.consumed(report.consumed, of: channel, spare: spare) }
        if place.kind == .resource {
            guard let code = report.done ?? report.stop else { return false }
            link.done(channel, code)  // [resource.done]
        } else {
            guard place.isFinished, report.isDrained else { return false }
        }
        channels.incoming[channel] = nil
        return true
    }

    func takeChannelEvents() -> [ChannelEvent] {
        let events = link.takeChannelEvents()
        for event in events { channels.note(event) }
        return events
    }

    /// Forgets a channel of the peer that the session stopped. Returns false when its reader already knows that it
    /// has ended.
    func forget(_ channel: UInt32) -> Bool { channels.incoming.removeValue(forKey: channel) != nil }

    /// Closes a link of a leaving session gracefully, after its messages, once its finished channels have ended.
    /// Returns whether it did.
    func sayGoodbyeWhenDrained(at now: Moment) -> Bool {
        guard isLeaving, channels.outgoing.isEmpty else { return false }
        link.closeWhenDrained(.goodbye, at: now)  // [close.goodbye]
        return true
    }
}
