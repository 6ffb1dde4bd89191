package import MultipeerCore
package import MultipeerFraming

/// The life of one link, from SELECTED to its end: messages, channels, their credit, liveness, closing. Spec 7, 8, 9
/// and 14.
///
/// ```
///   open ──close, superseded, violation, idle timeout──▶ closing ──CLOSE, lost, deadline──▶ ended
///     └──CLOSE, lost──▶ ended
/// ```
///
/// Pure: it never reads a clock, a socket or a random source. After every call the owner looks at `end`, takes
/// messages and events, writes while `wantsToSend`, and sleeps until `deadline`. Sockets are read before the time is
/// advanced, so that bytes that wait unread do not count as idle time. The owner may release a link whose CLOSE is
/// written out.
package struct Link: ~Copyable, Sendable {
    package enum Event: Equatable, Sendable {
        /// The peer has read everything that was enqueued before `mark` was called with this number.
        case markReached(UInt64)
        case probeAnswered
        case roundTrip(Duration)
        /// The peer has sent PING: it may have received nothing for a while. The owner reports what TCP knows: `observed`.
        case pinged
        /// Where the peer now accepts datagrams: DGRAM.
        case datagramOffered(DatagramOffer)
        /// A frame of the verification code, SAS_REQUEST to SAS_RESULT, for the state machine that checks it.
        case code(Frame)
        /// A membership entry of the mesh.
        case members(Members)
    }

    package enum Phase: Equatable, Sendable {
        case open
        /// CLOSE is being sent, or was; what still arrives is dropped. The phase ends at that time at the latest.
        case closing(until: Moment)
        case ended
    }

    package internal(set) var phase = Phase.open
    /// Why the link ended: set when it stops being open, and never changed.
    package internal(set) var end: LinkCloseReason?

    var now: Moment
    var incoming = IncomingMessages()
    var events: [Event] = []
    /// Whether the owner has yet to check a frame of the verification code: nothing after it is taken before that.
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
    /// CLOSE with this code, once this many messages are written.
    var pendingClose: (code: CloseCode, after: Int)?
    var counted = LinkStatistics()
    /// Whether a PING was sent because the round-trip time of a path was needed.
    var hasMeasuredPath = false

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
    /// What has become due.
    package enum Due: Equatable, Sendable {
        case nothing
        /// The peer is sent a PING because nothing was received from it. The owner reports what TCP knows: `observed`.
        case ping
        /// The owner reports what TCP knows.
        case report
    }

    /// Returns what the owner has to do with it.
    @discardableResult
    package mutating func advance(to now: Moment) -> Due {
        self.now = now
        switch phase {
        case .open:
            switch liveness.advance(to: now) {
            case .well: break
            case .ask:
                control.ask()
                return .ping
            case .speak: control.ask()
            case .look: return .report
            case .dead: part(.timedOut)  // [live.idle-timeout]
            }
        case .closing(let until):
            if now >= until { phase = .ended }  // [close.linger]
        case .ended: break
        }
        return .nothing
    }

    /// Takes a report of what TCP knows of the connection. Ends the link when large packets do not arrive.
    package mutating func observed(_ report: DeliveryReport, at now: Moment) {
        self.now = now
        guard phase == .open, !liveness.observed(report, isWritten: !control.wantsPing, at: now) else {
            return
        }
        part(.largePacketsLost)  // [link.narrow]
    }

    /// Since when a PING has no answer; nil when none is open.
    package var silence: Liveness.Silence? { phase == .open ? liveness.silence : nil }

    /// Sends PING now if it is due soon, because one is sent on another link. Returns whether it does.
    package mutating func joinPing(at now: Moment) -> Bool {
        guard phase == .open, liveness.join(at: now) else { return false }
        self.now = now
        control.ask()
        return true
    }

    /// The next time at which `advance` has an effect; nil once the link has ended. Mutating, although nothing changes: to call
    /// what only reads so large a value, Swift copies it.
    package var deadline: Moment? {
        mutating get {
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
}

// MARK: the end

extension Link {
    /// Ends the link: CLOSE is sent before everything that waits, and nothing after it. [close.linger]
    package mutating func close(_ code: CloseCode, reason: String = "", at now: Moment) {
        self.now = now
        part(.closed(code), reason: reason)
    }

    /// Ends the link gracefully, after everything already enqueued: until then the link stays open. [close.goodbye]
    package mutating func closeWhenDrained(_ code: CloseCode, at now: Moment) {
        self.now = now
        guard phase == .open, pendingClose == nil else { return }
        pendingClose = (code, after: outgoingMessages.appended)
        partWhenDrained()
    }

    /// Ends the link because the peer selected a newer connection.
    package mutating func superseded(at now: Moment) {
        self.now = now
        part(.superseded)
    }

    /// Handles the end of the connection, by EOF or an error. Without a CLOSE before it, data may be missing.
    /// [tls.truncation]
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
        // Channel frames are written too: a RESET, or the DONE that the peer waits for.
        guard let pendingClose, outgoingMessages.written >= pendingClose.after, control.hasNoFrames else {
            return
        }
        part(.closed(pendingClose.code))
    }

    /// How long a CLOSE may take to be written out.
    private static let linger = Duration.seconds(1)
}
