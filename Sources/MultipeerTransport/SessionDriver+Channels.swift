package import MultipeerCore
import MultipeerEngine
package import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
import MultipeerMesh

// MARK: channels

extension SessionDriver {
    /// Opens a channel; waits while the peer has as many open as it takes, or has not taken what was announced to it.
    package func open(_ opening: ChannelOpening, to uid: UID) async throws(ChannelFault) -> ChannelSender {
        if let complaint = opening.complaint { throw .invalid(complaint) }
        guard let wire = wire(of: uid), let seat = wire.seat, let number = engine.open(opening, on: wire.id)
        else { throw .notLinked }
        let key = ChannelKey(link: wire.id, number: number)
        let channel = ChannelOutlet(opening) { [errands] in errands.add(.writer(key)) }
        seat.outgoing[key.number] = channel
        loop.wantsTurnEnd(self)
        if let fault = await channel.beginning() { throw fault }
        return ChannelSender(to: seat.peer, channel)
    }

    /// What somebody wrote: pieces, and the end of them.
    func serveWriter(_ key: ChannelKey) {
        guard let seat = wires[key.link]?.seat, let channel = seat.outgoing[key.number] else { return }
        let work = channel.take()
        if let code = work.abort {
            seat.outgoing[key.number] = nil
            return engine.reset(key.number, code, on: key.link)
        }
        for piece in work.pieces { engine.write(piece, to: key.number, on: key.link) }
        if work.isFinished { engine.finish(key.number, digest: work.digest, on: key.link) }
    }

    /// What somebody has read, or does not want to read.
    func serveReader(_ key: ChannelKey) {
        guard let seat = wires[key.link]?.seat, let channel = seat.incoming[key.number] else { return }
        if engine.read(channel.take(), of: key.number, on: key.link) { seat.incoming[key.number] = nil }
    }

    /// What a link has to say of its channels.
    func deliver(_ events: [ChannelEvent], on id: ConnectionID) {
        guard let seat = wires[id]?.seat else { return }
        for event in events { deliver(event, id, seat) }
    }

    private func deliver(_ event: ChannelEvent, _ id: ConnectionID, _ seat: Seat) {
        switch event {
        case .opened(let number, let opening, let cost): announce(number, opening, cost, id, seat)
        case .data(let number, let bytes):
            seat.channelBytesReceived += bytes.count
            hear(number, seat) { $0.deliver(bytes) }
        case .finished(let number, let digest):
            hear(number, seat) { $0.end(.finished(digest: digest)) }
            serveReader(ChannelKey(link: id, number: number))  // nobody may be left to read it
        case .aborted(let number, let code):
            hear(number, seat) { $0.fail(.reset(code)) }
            seat.incoming[number] = nil
        case .began(let number): seat.outgoing[number]?.begin()
        case .wrote(let number, let pieces, let bytes):
            seat.channelBytesSent += bytes
            seat.outgoing[number]?.wrote(pieces: pieces, bytes: bytes)
        case .ended(let number):
            guard seat.outgoing[number]?.opening.kind == .stream else { return }
            seat.outgoing.removeValue(forKey: number)?.settle(nil)
        case .stopped(let number, let code):
            seat.outgoing.removeValue(forKey: number)?.settle(.stopped(code))
        case .completed(let number, let code):
            seat.outgoing.removeValue(forKey: number)?.settle(code == .ok ? nil : .stopped(code))
        }
    }

    private func announce(
        _ number: UInt32, _ opening: ChannelOpening, _ cost: Int, _ id: ConnectionID, _ seat: Seat
    ) {
        let key = ChannelKey(link: id, number: number)
        let channel = ChannelInbox(opening, window: Int(configuration.channelCredit)) { [errands] in
            errands.add(.reader(key))
        }
        seat.incoming[number] = channel
        let receiver = ChannelReceiver(from: seat.peer, channel)
        let event: SessionEvent =
            opening.kind == .resource
            ? .resource(IncomingResource(receiver, folder: folder)) : .stream(IncomingStream(receiver))
        if let guest, guest.takes(event) { return engine.consumed(cost, on: id) }
        pending.append(event, key: Int(id.rawValue), cost: cost)  // [channel.cost]
    }

    private func hear(_ number: UInt32, _ seat: Seat, _ change: (ChannelInbox) -> Void) {
        guard let channel = seat.incoming[number] else { return }
        change(channel)
        if heard.last !== channel { heard.append(channel) }
    }

    /// The session holds too much unread, and this channel was stopped for it.
    func relieved(_ id: ConnectionID, _ number: UInt32) {
        guard let channel = wires[id]?.seat?.incoming.removeValue(forKey: number) else { return }
        channel.fail(.stopped(.busy))
        heard.append(channel)
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
            engine.reset(number, .cancelled, on: wire.id)
            seat.outgoing.removeValue(forKey: number)?.settle(.ended(reason))
        }
    }

    /// The link is over: whoever waits hears it, once. What has come can still be read.
    func failChannels(_ seat: Seat, _ reason: EndReason) {
        for channel in seat.outgoing.values { channel.settle(.ended(reason)) }
        for channel in seat.incoming.values {
            channel.end(.failed(.ended(reason)))
            heard.append(channel)
        }
        seat.outgoing = [:]
        seat.incoming = [:]
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
