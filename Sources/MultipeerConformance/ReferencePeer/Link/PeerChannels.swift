/// The channels of one link, both ways, and the dispatch of their frames. Spec 9.
final class PeerChannels {
    unowned let link: PeerLink
    private var incoming: [UInt32: PeerIncomingChannel] = [:]
    private var highestIncoming: UInt32 = 0
    private var outgoing: [UInt32: PeerOutgoingChannel] = [:]
    private var highestOutgoing: UInt32 = 0
    /// Channels that wait for a place or for credit.
    private var unopened: [PeerOutgoingChannel] = []
    private var resets = FrameTokenBucket(size: 200, perSecond: 200.0 / 30)
    private var served: UInt32 = 0
    /// The cost of channels that the application has not taken.
    private var opened: UInt64 = 0

    init(_ link: PeerLink) { self.link = link }

    var bug: Bug? { link.bug }
    private var session: PeerSession { link.session }
    /// Returns whether a resource with a lower number is still being received.
    func hasResource(before number: UInt32) -> Bool {
        incoming.values.contains { $0.isResource && $0.number < number && !$0.isFinished }
    }

    /// Bytes that the application has not taken.
    var buffered: Int { incoming.values.reduce(0) { $0 + $1.held } }

    func take(_ frame: Frame) throws(ProtocolError) {
        if bug == .channelsAreControl { try link.countControl() }
        switch frame.kind {
        case .open: try takeOpen(frame)
        case .data: try takeData(frame)
        case .fin: try takeFin(frame)
        case .reset: try takeReset(frame)
        case .stop: try takeStop(frame)
        case .credit: try takeCredit(frame)
        case .resume: try takeResume(frame)
        case .begin: try open(frame).takeBegin(frame.offset ?? 0)
        default: try takeDone(frame)
        }
    }

    // MARK: From the opener

    private func takeOpen(_ frame: Frame) throws(ProtocolError) {
        let opening = try PeerChannelOpening(frame.payload, bug: bug)
        let isNew = frame.channel > highestIncoming || bug == .reusesChannelNumbers
        try demand(isNew, "channel \(frame.channel) after \(highestIncoming)")
        highestIncoming = max(highestIncoming, frame.channel)
        let hasPlace =
            incoming.values.count { !$0.isFinished } < Int(session.limits.channels)
            || bug == .channelsWithoutLimit
        try demand(hasPlace, .flow, "too many channels")
        if bug != .opensAreFree { try link.inbox.spend(frame.cost) }
        guard opening.kind == 1 || opening.kind == 2 || bug == .channelKindUnchecked else {
            incoming[frame.channel] = PeerIncomingChannel(frame.channel, opening, self, isDeclined: true)
            link.send(.channelCode(.stop, frame.channel, .declined))
            return link.inbox.returned(frame.cost)
        }
        let channel = PeerIncomingChannel(frame.channel, opening, self)
        incoming[frame.channel] = channel
        channel.begin()
        opened += frame.cost
        returnOpened()
    }

    /// Returns the credit of channels that the application has taken.
    func returnOpened() {
        guard opened > 0, !session.application.isPaused, bug != .opensAreFree else { return }
        link.inbox.returned(opened)
        opened = 0
    }

    /// Returns the open channel of DATA or FIN.
    private func open(_ frame: Frame) throws(ProtocolError) -> PeerIncomingChannel {
        try demand(frame.channel <= highestIncoming, "channel \(frame.channel) was never opened")
        guard let channel = incoming[frame.channel] else {
            throw .broken("channel \(frame.channel) is closed")
        }
        return channel
    }

    private func takeData(_ frame: Frame) throws(ProtocolError) {
        if bug == .dataOnAnyChannel, incoming[frame.channel] == nil { return }
        if bug == .dataAfterFin, incoming[frame.channel] == nil, frame.channel <= highestIncoming { return }
        try open(frame).take(frame.payload)
        try keepMemory()
    }

    private func takeFin(_ frame: Frame) throws(ProtocolError) {
        let entries = try EntryReader().read(frame.payload, known: [1])
        let digest = try entries.possible(1, "DIGEST", 32...32)
        let channel = try open(frame)
        try channel.takeFin(digest)
        if channel.isOver { incoming[frame.channel] = nil }
    }

    private func takeReset(_ frame: Frame) throws(ProtocolError) {
        try demand(frame.channel <= highestIncoming, "channel \(frame.channel) was never opened")
        guard let channel = incoming[frame.channel], !channel.isFinished else {
            if bug == .strayFramesFree { return }
            return try link.countControl()
        }
        incoming[frame.channel] = nil
        if !channel.wasStopped {
            try demand(resets.take() || bug == .resetsWithoutLimit, .flood, "too many resets")
        }
        channel.fail(frame.code ?? .internal)
    }

    /// Enforces the session's memory limit. Spec 15.2.
    private func keepMemory() throws(ProtocolError) {
        if bug == .channelsWithoutMemoryLimit { return }
        let all = session.links.values
        guard all.reduce(0, { $0 + $1.channels.buffered }) > 20 << 20,
            let most = all.max(by: { $0.channels.buffered < $1.channels.buffered }),
            let fullest = most.channels.incoming.values.max(by: { $0.held < $1.held })
        else { return }
        fullest.stop(.busy)
    }

    // MARK: From the receiver

    private func takeStop(_ frame: Frame) throws(ProtocolError) {
        try demand(frame.channel <= highestOutgoing, "STOP on a channel that was never opened")
        guard let channel = outgoing[frame.channel] else { return try link.countControl() }
        if bug == .ignoresStop { return }
        let code = frame.code ?? .internal
        if !channel.hasFinished { link.send(.channelCode(.reset, frame.channel, code)) }
        close(channel)
        channel.failed(code)
    }

    private func takeCredit(_ frame: Frame) throws(ProtocolError) {
        try demand(frame.channel <= highestOutgoing, "CREDIT on a channel that was never opened")
        guard let channel = outgoing[frame.channel] else { return }
        let new = frame.payload.number
        try demand(new > channel.limit || bug == .channelCreditMayFall, "a limit that does not grow")
        channel.limit = new
        link.outbox.pour()
    }

    private func takeDone(_ frame: Frame) throws(ProtocolError) {
        try demand(frame.channel <= highestOutgoing, "DONE on a channel that was never opened")
        guard let channel = outgoing[frame.channel] else { return try link.countControl() }
        try demand(channel.isResource && channel.hasFinished, "DONE before FIN")
        close(channel)
        channel.done(frame.code ?? .internal)
    }

    private func takeResume(_ frame: Frame) throws(ProtocolError) {
        try demand(frame.channel <= highestOutgoing, "RESUME on a channel that was never opened")
        guard let channel = outgoing[frame.channel] else { return try link.countControl() }
        try channel.takeResume(frame.offset ?? 0, Array(frame.payload.dropFirst(8)))
        link.outbox.pour()
    }

    // MARK: Sending

    func add(_ channel: PeerOutgoingChannel) {
        unopened.append(channel)
        openWaiting()
        link.outbox.pour()
    }

    private func openWaiting() {
        while let channel = unopened.first, outgoing.count < Int(link.theirs.channels) {
            let frame = channel.opening(highestOutgoing + 1)
            guard link.outbox.pay(frame.cost) else { return }
            unopened.removeFirst()
            highestOutgoing += 1
            channel.opened(highestOutgoing, limit: UInt64(link.theirs.channelCredit))
            outgoing[highestOutgoing] = channel
            link.send(frame)
        }
    }

    /// Sends one piece of one channel; returns false when none has bytes and credit. The channels take turns.
    ///
    /// * `isBetweenMessages`: whether messages wait, too.
    func sendPiece(isBetweenMessages: Bool = false) -> Bool {
        openWaiting()
        let numbers = outgoing.keys.sorted()
        let turns =
            bug == .stalledStreamStallsAll
            ? Array(numbers.prefix(1))
            : numbers.filter { $0 > served } + numbers.filter { $0 <= served }
        for number in turns {
            guard let channel = outgoing[number] else { continue }
            if isBetweenMessages, channel.isResource, bug == .messagesStarveFiles { continue }
            guard let frame = channel.nextFrame() else { continue }
            served = number
            link.send(frame)
            if channel.isClosed { close(channel) }
            return true
        }
        return false
    }

    var isSendingResource: Bool { outgoing.values.contains(where: \.isResource) }

    func close(_ channel: PeerOutgoingChannel) {
        unopened.removeAll { $0 === channel }
        if let number = channel.number { outgoing[number] = nil }
    }

    // MARK: Requests of channels

    func forget(_ channel: PeerIncomingChannel) { incoming[channel.number] = nil }

    /// Ends all channels with their link.
    func ended() {
        let (came, went) = (Array(incoming.values), Array(outgoing.values) + unopened)
        incoming = [:]
        outgoing = [:]
        unopened = []
        if bug == .streamsOutliveLink { return }
        for channel in came { channel.fail(nil) }
        for channel in went { channel.lost() }
    }
}

/// The content of OPEN. Spec 9.2.
struct PeerChannelOpening {
    let kind: UInt8
    let name: [UInt8]
    let size: UInt64?
    let metadata: [UInt8]?
    let hasNoDigest: Bool
    let isResumable: Bool

    init(kind: UInt8, name: [UInt8], size: UInt64?, isResumable: Bool) {
        self.kind = kind
        self.name = name
        self.size = size
        metadata = nil
        hasNoDigest = false
        self.isResumable = isResumable
    }

    init(_ payload: [UInt8], bug: Bug?) throws(ProtocolError) {
        let entries = try EntryReader().read(payload, known: [1, 2, 3, 4, 5, 6])
        kind = try entries.demanded(1, "KIND", 1)[0]
        let isUnchecked = bug == .channelNameUnchecked
        name = try entries.demanded(2, "NAME", isUnchecked ? 0...65_535 : 1...1_024)
        try demand(name.isText || isUnchecked, "a NAME that is not text")
        size = try entries.possible(3, "SIZE", 8...8)?.number
        metadata = try entries.possible(4, "METADATA", 0...1_024)
        hasNoDigest = try entries.possible(6, "NO_DIGEST", 0...0) != nil
        isResumable = try entries.possible(5, "RESUMABLE", 0...0) != nil
        try demand(!isResumable || kind != 1 && size != nil, "RESUMABLE of a stream, or without SIZE")
    }

    var bytes: [UInt8] {
        var entries = [TLVEntry(1, [kind]), TLVEntry(2, name)]
        if let size { entries.append(TLVEntry(3) { $0.u64(size) }) }
        if isResumable { entries.append(TLVEntry(5, [])) }
        return entries.bytes
    }
}

extension Frame {
    /// Returns RESET, STOP or DONE.
    static func channelCode(_ kind: FrameKind, _ channel: UInt32, _ code: CloseCode) -> Frame {
        Frame(kind, channel: channel) { $0.u16(code.rawValue) }
    }
}
