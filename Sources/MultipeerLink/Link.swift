package import MultipeerCore
package import MultipeerFraming

/// The life of one link, from SELECTED to its end: messages, channels, their credit, liveness, closing. Spec 7, 8, 9
/// and 14.
///
/// ```
///   open ──close, superseded, violation, dead──▶ closing ──CLOSE, lost, lingered──▶ ended
///     └──CLOSE, lost──▶ ended
/// ```
///
/// Pure: it never reads a clock, a socket or a random source. After every call the owner looks at `end`, takes
/// messages and events, writes while `wantsToSend`, and sleeps until `deadline`. Sockets are read before time is
/// told, so that a peer is not judged by bytes that wait unread. A link whose CLOSE is written out is the owner's to
/// let go of.
package struct Link: ~Copyable, Sendable {
    package enum Event: Equatable, Sendable {
        /// The peer has read everything that was enqueued before `mark` was called with this number.
        case markReached(UInt64)
        case probeAnswered
        case roundTrip(Duration)
        /// Where the peer takes datagrams now: DGRAM.
        case datagramOffered(DatagramOffer)
        /// A frame of the verification code, SAS_REQUEST to SAS_REVEAL, for the machine that judges it.
        case code(Frame)
        /// An entry of the mesh.
        case members(Members)
    }

    package enum Phase: Equatable, Sendable {
        case open
        /// CLOSE goes, or went, out; what still comes is dropped. It ends at that moment at the latest.
        case closing(until: Moment)
        case ended
    }

    package internal(set) var phase = Phase.open
    /// Why the link is over: set when it stops being open, and never changed.
    package internal(set) var end: LinkCloseReason?

    var now: Moment
    var incoming = IncomingMessages()
    var events: [Event] = []
    /// The owner has yet to judge a frame of the verification code: nothing behind it is taken before.
    var awaitsJudgement = false
    var assembler: MessageAssembler
    var receiveWindow: MessageCredit.ReceiveWindow
    var sendWindow: MessageCredit.SendWindow
    var outgoingMessages = OutgoingMessages()
    var budget: TokenBucket
    var control: ControlQueue
    var liveness: Liveness
    var incomingChannels: IncomingChannels
    var outgoing: OutgoingChannels
    var roundRobin = DeficitRoundRobin()
    let isMesh: Bool
    /// CLOSE with this code, once so many messages are written.
    var pendingClose: (code: CloseCode, after: Int)?
    var counted = LinkStatistics()

    package init(_ configuration: LinkConfiguration, now: Moment) {
        self.now = now
        assembler = MessageAssembler(limit: Int(clamping: configuration.local.maxMessage))
        receiveWindow = MessageCredit.ReceiveWindow(window: Int(configuration.local.messageCredit))
        sendWindow = MessageCredit.SendWindow(limit: UInt64(configuration.remote.messageCredit))
        budget = TokenBucket(now: now)
        control = ControlQueue(grease: configuration.greaseKind, now: now)
        liveness = Liveness(configuration.timing, now: now)
        incomingChannels = IncomingChannels(configuration.local, now: now)
        outgoing = OutgoingChannels(configuration.remote, now: now)
        isMesh = configuration.isMesh
    }

    package var statistics: LinkStatistics { counted }
}

// MARK: time

extension Link {
    package mutating func advance(to now: Moment) {
        self.now = now
        switch phase {
        case .open:
            switch liveness.advance(to: now) {
            case .well: break
            case .ask: control.ask()
            case .dead: part(.timedOut)  // [live.dead]
            }
        case .closing(let until):
            if now >= until { phase = .ended }  // [close.linger]
        case .ended: break
        }
    }

    /// The next moment at which `advance` has something to do; nil once the link has ended.
    package var deadline: Moment? {
        switch phase {
        case .open:
            var deadline = liveness.deadline
            if let mark = control.markDeadline(after: outgoingMessages.written, at: now) {
                deadline = min(deadline, mark)
            }
            if outgoing.waitsForPace(at: now) {
                deadline = min(deadline, now + OutgoingChannels.resetInterval)
            }
            return deadline
        case .closing(let until): return until
        case .ended: return nil
        }
    }
}

// MARK: the end

extension Link {
    /// Ends the link: CLOSE goes ahead of everything, and nothing goes after it. [close.linger]
    package mutating func close(_ code: CloseCode, reason: String = "", at now: Moment) {
        self.now = now
        part(.closed(code), reason: reason)
    }

    /// The same after everything that is enqueued already: until then the link lives on. [close.goodbye]
    package mutating func closeWhenDrained(_ code: CloseCode, at now: Moment) {
        self.now = now
        guard phase == .open, pendingClose == nil else { return }
        pendingClose = (code, after: outgoingMessages.appended)
        partWhenDrained()
    }

    /// The peer selected a newer connection: it has none to us on this one.
    package mutating func superseded(at now: Moment) {
        self.now = now
        part(.superseded)
    }

    /// The connection ended, by EOF or an error. Without a CLOSE before it, something may be missing. [tls.truncation]
    package mutating func lost() {
        if end == nil { end = .lost }
        phase = .ended
    }

    mutating func part(_ end: LinkCloseReason, reason: String = "") {
        guard phase == .open, let code = end.closeCode else { return }
        self.end = end
        phase = .closing(until: now + Self.linger)
        control.part(.close(code, reason: reason))
    }

    mutating func partWhenDrained() {
        // What channels were told goes, too: a RESET, or the DONE that somebody waits for.
        guard let pendingClose, outgoingMessages.written >= pendingClose.after, control.hasNoFrames else {
            return
        }
        part(.closed(pendingClose.code))
    }

    /// How long a CLOSE may take to be written out.
    private static let linger = Duration.seconds(1)
}
