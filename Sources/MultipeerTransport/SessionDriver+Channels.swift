package import MultipeerCore
package import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh

// MARK: channels

extension SessionDriver {
    /// Opens a channel; waits while the peer has as many open as it takes, or has not taken what was announced to it.
    package func open(_ opening: ChannelOpening, to uid: UID) async throws(ChannelFault) -> ChannelSender {
        if let complaint = opening.complaint { throw .invalid(complaint) }
        guard leaveDeadline == nil, let wire = wire(of: uid), let seat = wire.seat else { throw .notLinked }
        let key = ChannelKey(link: wire.id, number: seat.link.open(opening))
        let channel = ChannelOutlet(opening) { [errands] in errands.add(.writer(key)) }
        seat.outgoing[key.number] = channel
        dirty.insert(wire.id)
        loop.wantsTurnEnd(self)
        if let fault = await channel.beginning() { throw fault }
        return ChannelSender(to: seat.peer, channel)
    }

    /// What somebody wrote: pieces, and the end of them.
    func serveWriter(_ key: ChannelKey) {
        guard let seat = wires[key.link]?.seat, let channel = seat.outgoing[key.number] else { return }
        let work = channel.take()
        dirty.insert(key.link)
        if let code = work.abort {
            seat.outgoing[key.number] = nil
            return seat.link.reset(key.number, code)
        }
        for piece in work.pieces { seat.link.write(piece, to: key.number) }
        if work.isFinished { seat.link.finish(key.number, digest: work.digest) }
    }

    /// What somebody has read, or does not want to read.
    func serveReader(_ key: ChannelKey) {
        guard let seat = wires[key.link]?.seat, let place = seat.incoming[key.number] else { return }
        let report = place.channel.take()
        dirty.insert(key.link)
        if let code = report.stop, !place.isFinished {
            seat.incoming[key.number] = nil
            return seat.link.stop(key.number, code)  // [channel.stop]
        }
        if report.consumed > 0 { seat.link.consumed(report.consumed, of: key.number) }
        if place.isResource, let code = report.done ?? report.stop {
            seat.incoming[key.number] = nil
            seat.link.done(key.number, code)  // [resource.done]
        } else if place.isFinished, !place.isResource, report.isDrained {
            seat.incoming[key.number] = nil
        }
    }

    /// Takes what a link has to say of its channels.
    func collectChannels(_ wire: Wire, _ seat: Seat) {
        let events = seat.link.takeChannelEvents()
        if events.isEmpty { return }
        for event in events {
            if !event.isOwn { seat.hasHeardOfChannels = true }
            switch event {
            case .opened(let number, let opening, let cost): announce(number, opening, cost, wire, seat)
            case .data(let number, let bytes):
                seat.channelBytesReceived += bytes.count
                hear(number, seat) { $0.deliver(bytes) }
            case .finished(let number, let digest):
                seat.incoming[number]?.isFinished = true
                hear(number, seat) { $0.end(.finished(digest: digest)) }
                serveReader(ChannelKey(link: wire.id, number: number))  // nobody may be left to read it
            case .aborted(let number, let code):
                hear(number, seat) { $0.fail(.reset(code)) }
                seat.incoming[number] = nil
            case .began(let number): seat.outgoing[number]?.begin()
            case .wrote(let number, let pieces, let bytes):
                seat.channelBytesSent += bytes
                seat.outgoing[number]?.wrote(pieces: pieces, bytes: bytes)
            case .ended(let number):
                guard seat.outgoing[number]?.opening.kind == .stream else { continue }
                seat.outgoing.removeValue(forKey: number)?.settle(nil)
            case .stopped(let number, let code):
                seat.outgoing.removeValue(forKey: number)?.settle(.stopped(code))
            case .completed(let number, let code):
                seat.outgoing.removeValue(forKey: number)?.settle(code == .ok ? nil : .stopped(code))
            }
        }
        relieveMemory()
        sayGoodbye(wire, seat)
    }

    private func announce(
        _ number: UInt32, _ opening: ChannelOpening, _ cost: Int, _ wire: Wire, _ seat: Seat
    ) {
        let key = ChannelKey(link: wire.id, number: number)
        let channel = ChannelInbox(opening, window: Int(configuration.channelCredit)) { [errands] in
            errands.add(.reader(key))
        }
        seat.incoming[number] = Seat.Incoming(channel: channel)
        let receiver = ChannelReceiver(from: seat.peer, channel)
        let event: SessionEvent =
            opening.kind == .resource
            ? .resource(IncomingResource(receiver, folder: folder)) : .stream(IncomingStream(receiver))
        if let guest, guest.takes(event) { return seat.link.consumed(cost) }
        pending.append(event, key: Int(wire.id.rawValue), cost: cost)  // [channel.cost]
    }

    private func hear(_ number: UInt32, _ seat: Seat, _ change: (ChannelInbox) -> Void) {
        guard let channel = seat.incoming[number]?.channel else { return }
        change(channel)
        if heard.last !== channel { heard.append(channel) }
    }

    /// Delivers what happened, in one batch.
    func deliver() {
        inbox.push(&pending)
        for channel in heard { channel.tell() }
        heard.removeAll(keepingCapacity: true)
    }
}

// MARK: the end

extension SessionDriver {
    /// The session is left: what was finished goes, the rest is given up. [close.goodbye]
    func finishChannels(_ wire: Wire, _ seat: Seat, _ reason: EndReason) {
        for (number, channel) in seat.outgoing {
            serveWriter(ChannelKey(link: wire.id, number: number))
            guard !channel.isFinished else { continue }
            seat.link.reset(number, .cancelled)
            seat.outgoing.removeValue(forKey: number)?.settle(.ended(reason))
        }
    }

    /// Once the channels that were finished are over, a link that is left goes when its messages have gone.
    func sayGoodbye(_ wire: Wire, _ seat: Seat) {
        guard seat.isLeaving, seat.outgoing.isEmpty else { return }
        seat.link.closeWhenDrained(.goodbye, at: loop.now)  // [close.goodbye]
        dirty.insert(wire.id)
    }

    /// The link is over: whoever waits hears it, once. What has come can still be read.
    func failChannels(_ seat: Seat, _ reason: EndReason) {
        for channel in seat.outgoing.values { channel.settle(.ended(reason)) }
        for place in seat.incoming.values {
            place.channel.end(.failed(.ended(reason)))
            heard.append(place.channel)
        }
        seat.outgoing = [:]
        seat.incoming = [:]
    }
}

extension ChannelEvent {
    /// Whether it is about what this side wrote.
    fileprivate var isOwn: Bool {
        switch self {
        case .began, .wrote, .ended: true
        case .opened, .data, .finished, .aborted, .stopped, .completed: false
        }
    }
}

extension ChannelOpening {
    /// What is wrong with it; nil when it can be sent.
    fileprivate var complaint: String? {
        if !(1...Limits.channelName ~= name.utf8.count) {  // [channel.name]
            return "a name has 1 to 1,024 bytes, not \(name.utf8.count)"
        }
        let count = metadata?.count ?? 0
        return count > Limits.channelMetadata ? "metadata has 1,024 bytes at the most, not \(count)" : nil
    }
}
