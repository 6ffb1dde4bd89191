package import MultipeerCore
package import MultipeerFraming

/// The path of a link's unreliable messages over UDP: which end receives under which association number, when to start
/// again, and whether datagrams arrive. Spec 10.
///
/// ```
///                   both offers                  handshake done              pong
///   idle ──────────────────────▶ shaking hands ─────────────────▶ probing ───────▶ up
///     ▲                            │  ▲      (plain: at once) ───────▲  │           │
///     │ the peer wants none        │  └───────── a new offer of either ─┴───────────┤
///     ├────── (from any but resting)                                    │           │
///     │                            └──────── a fault, 10 s without progress ────────┤ a fault
///     │ time, the peer's offer                                          ▼           │
///     ├─────────────────────────────────────────────────────────────  resting ◀─────┤
///     └────────────────────────────── nothing comes ────────────────────────────────┘
/// ```
///
/// Silence ends an attempt as well, once a content has come to it: the other end may be up, and this end's pings keep it so.
///
/// What ends at one end ends at the other: the link carries either a new offer, with which both begin again, or the word
/// that this end rests, and takes nothing until its next offer.
///
/// Pure: it never reads a clock, a socket or a random source and knows no keys. After every call the owner carries out
/// `takeActions()` and sleeps until `deadline`. Contents are not passed in actions: the owner passes received ones to
/// `receive`, and calls `encode` to add the header to those it sends.
package struct DatagramPath: Sendable {
    package enum Action: Equatable, Sendable {
        /// Draw a random number that is not 0, pass it to `announce`, and send the offer that this returns.
        case drawAssociation
        /// Drop the existing channel, use the address of the link and `remotePort` as the peer's, and create a new
        /// channel with the key that the exporter gives for this context; nil for a plain link, which has none.
        case begin(keyContext: [UInt8]?)
        /// Drop the channel; nothing is sent or accepted until the next `begin`.
        case drop
        /// Make the channel retransmit its flight.
        case retransmit
        /// Protect this content, unless the link is plain, and send it.
        case send([UInt8])
        /// From now on messages may use this path.
        case up
        /// From now on messages use the link.
        case down
        /// Send the offer that wants no datagrams: this end rests. [dgram.rest]
        case withdraw
    }

    package struct Timing: Equatable, Sendable {
        /// How long a new pair of association numbers may take until the handshake moves, and then until the first pong.
        package var handshakeTimeout = Duration.seconds(10)
        /// The longest rest after a failure, where no path was up on this link. [dgram.rest]
        package var rest = Duration.seconds(30)
        /// The longest rest where one was. [dgram.rest]
        package var restOnceUp = Duration.seconds(2)
        /// The interval of pings on a path that is up; one that can be sent together with another is sent earlier.
        package var pings = Duration.seconds(5)
        /// How long nothing may come after the first content sent, if four round trips take no longer. [dgram.silence]
        package var silence = Duration.milliseconds(1_750)

        package init() {}
    }

    package enum Phase: Equatable, Sendable {
        /// One of the two offers is missing.
        case idle
        case shakingHands(HandshakeTimer, until: Moment)
        /// Contents can be exchanged; whether they arrive is not known yet.
        case probing(Probe, until: Moment)
        case up(Watch)
        /// This end has withdrawn its offer.
        case resting(until: Moment)
    }

    package private(set) var phase = Phase.idle
    package let isControlling: Bool
    package let isProtected: Bool
    /// The number of contents dropped because they cannot be read, are duplicates, or arrived too late.
    package internal(set) var dropped = 0

    /// The last offer of this side.
    private(set) var local: DatagramOffer?
    /// The last offer of the peer; nil when it accepts no datagrams.
    private(set) var remote: DatagramOffer?
    private let port: UInt16
    let timing: Timing
    private var actions: [Action] = []
    /// The number of failures since the path was last up.
    private var failures = 0
    /// Whether the path was up on this link.
    private var wasUp = false
    /// Whether a number was requested and not announced yet: the last offer is not valid.
    private var isDrawing = true

    /// The sequence number of the next content to be sent. It and the window go on when the association numbers change: on a
    /// plain link a late content of the previous pair looks like one of the new pair. [dgram.sequence]
    var sequence: UInt32 = 0
    var window = ReplayWindow()
    /// The last ping, and the last one before this pair of numbers: the answer to an older one is meaningless. A ping is the
    /// number of nanoseconds since the first one, so that its answer gives the round trip.
    var lastPing: UInt64 = 0
    var lastForeignPing: UInt64 = 0
    var firstPing: Moment?
    /// The round trip of pings of this pair of numbers: it rises smoothed, and falls at once.
    var roundTrip = Duration.zero
    /// The last ping before the path came up, until a later one is answered, where the round trip so far would lengthen the
    /// limit of silence. It is a guess until then: a peer that was suspended answers all pings of an attempt late.
    var lastProbe: UInt64?
    /// The number of pongs waiting to be taken, limited so that a peer that keeps sending pings fills no memory.
    var waitingPongs = 0

    /// - Parameters:
    ///   - isControlling: whether this side has the lower uid.
    ///   - isProtected: whether the link is encrypted.
    ///   - port: the port on which this side receives datagrams.
    ///   - timing: the timeouts and intervals.
    package init(isControlling: Bool, isProtected: Bool, port: UInt16, timing: Timing = Timing()) {
        precondition(port != 0, "a peer that receives no datagrams needs no path")
        self.isControlling = isControlling
        self.isProtected = isProtected
        self.port = port
        self.timing = timing
        actions = [.drawAssociation]
    }

    package mutating func takeActions() -> [Action] {
        waitingPongs = 0
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    package var hasActions: Bool { !actions.isEmpty }

    mutating func say(_ action: Action) { actions.append(action) }
}

// MARK: - Facts for the owner

extension DatagramPath {
    /// The association number under which this side receives; nil before the first one is drawn.
    package var association: UInt64? { local?.association }

    /// The port on which the peer receives, until an authenticated content comes from another address.
    package var remotePort: UInt16? { remote?.port }

    /// The header of every datagram to the peer; nil while none may be sent.
    package var header: DatagramHeader? {
        guard let remote, isRunning else { return nil }
        return DatagramHeader(isProtected ? .records : .plain, association: remote.association)
    }

    /// Returns whether a datagram with this header is for this path in its current state. If not, it is silently
    /// dropped.
    package func admits(_ header: DatagramHeader) -> Bool {
        isRunning && header.association == association  // [dgram.drop]
            && header.kind == (isProtected ? .records : .plain)  // [dgram.mode]
    }

    /// Returns whether a message of `count` bytes may use this path now; if not, it uses the link.
    package func canCarry(_ count: Int) -> Bool {
        guard case .up = phase else { return false }  // [dgram.fallback]
        return count <= Limits.datagramMessage  // [dgram.message-max]
    }

    private var isRunning: Bool {
        switch phase {
        case .idle, .resting: false
        case .shakingHands, .probing, .up: true
        }
    }

    var canExchange: Bool {
        switch phase {
        case .probing, .up: true
        case .idle, .shakingHands, .resting: false
        }
    }
}

// MARK: - Offers

extension DatagramPath {
    /// Takes the random number and returns the offer to be sent on the link.
    package mutating func announce(_ association: UInt64, at now: Moment) -> DatagramOffer {
        precondition(association != 0, "0 names no association")  // [dgram.offer]
        let offer = DatagramOffer(association: association, port: port)
        local = offer
        isDrawing = false
        begin(at: now)
        return offer
    }

    /// Handles the peer's DGRAM: it replaces the previous one, and both ends start again. [dgram.restart]
    package mutating func receive(_ offer: DatagramOffer, at now: Moment) {
        remote = offer.port != 0 && offer.association != 0 ? offer : nil  // [dgram.offer]
        if case .resting = phase {
            if remote != nil { offerAgain() }  // [dgram.rest]
            return
        }
        begin(at: now)
    }

    /// Starts with the two association numbers, or becomes idle when one is missing.
    private mutating func begin(at now: Moment) {
        guard let local, let remote, !isDrawing else { return stop(.idle) }
        if case .up = phase { say(.down) }
        lastForeignPing = lastPing
        roundTrip = .zero
        lastProbe = nil
        let until = now + timing.handshakeTimeout
        if isProtected {
            phase = .shakingHands(HandshakeTimer(now: now), until: until)
            say(.begin(keyContext: context(local, remote)))
        } else {
            say(.begin(keyContext: nil))
            probe(until: until, at: now)
        }
    }

    /// Returns the context of the key: the association number of the lower uid, then that of the other. [dgram.key]
    private func context(_ local: DatagramOffer, _ remote: DatagramOffer) -> [UInt8] {
        let (lower, higher) = isControlling ? (local, remote) : (remote, local)
        var bytes = ByteBuffer(capacity: 16)
        bytes.append(lower.association)
        bytes.append(higher.association)
        return bytes.takeAll()
    }

    private mutating func stop(_ next: Phase) {
        if isRunning { say(.drop) }
        if case .up = phase { say(.down) }
        phase = next
    }

    /// Requests a new number, and with it a new start at both ends. The previous offer is no longer valid.
    private mutating func offerAgain() {
        stop(.idle)
        isDrawing = true
        say(.drawAssociation)
    }

    /// Gives up for a time, and notifies the peer, which must not send what this end would drop. [dgram.rest]
    private mutating func rest(at now: Moment) {
        failures += 1
        let longest = wasUp ? timing.restOnceUp : timing.rest
        // The controlling end tries first, so that one offer serves both.
        let pause = min(Self.rest(after: failures), longest) + (isControlling ? .zero : .seconds(1))
        stop(.resting(until: now + pause))
        say(.withdraw)
    }

    private static func rest(after failures: Int) -> Duration { .seconds(1 << min(failures - 1, 5)) }
}

// MARK: - Handshake

extension DatagramPath {
    /// Notes how many flights the channel has made: a new one restarts at the shortest retransmission interval.
    package mutating func handshakeMoved(flights: Int, at now: Moment) {
        guard case .shakingHands(var timer, _) = phase, timer.made(flights, at: now) else { return }
        phase = .shakingHands(timer, until: now + timing.handshakeTimeout)  // [dgram.path]
    }

    /// Handles the completion of the channel's handshake.
    package mutating func established(at now: Moment) {
        guard case .shakingHands = phase else { return }
        probe(until: now + timing.handshakeTimeout, at: now)  // [dgram.path]
    }

    /// Handles a failure of the channel: it is dropped, and this side starts again after a rest that grows with every
    /// failure.
    package mutating func failed(at now: Moment) {
        if isRunning { rest(at: now) }
    }

    private mutating func probe(until: Moment, at now: Moment) {
        phase = .probing(Probe(now: now), until: until)
        ping(at: now)
    }
}

// MARK: - Time

extension DatagramPath {
    /// The next time at which `advance` has an effect.
    package var deadline: Moment? {
        switch phase {
        case .idle: nil
        case .shakingHands(let timer, let until): min(timer.backoff.next, until)
        case .probing(let probe, let until): min(probe.backoff.next, min(probe.end, until))
        case .up(let watch): min(watch.nextPing, watch.end(timing, roundTrip))
        case .resting(let until): until
        }
    }

    package mutating func advance(to now: Moment) {
        guard let deadline, now >= deadline else { return }
        switch phase {
        case .idle: break
        case .shakingHands(var timer, let until):
            guard now < until else { return rest(at: now) }  // [dgram.path]
            timer.backoff.advance(to: now)  // [dgram.retransmit]
            phase = .shakingHands(timer, until: until)
            say(.retransmit)
        case .probing(var probe, let until):
            guard now < until else { return rest(at: now) }  // [dgram.path]
            if now >= probe.end {
                guard probe.hasSlept(until: now) else { return offerAgain() }  // [dgram.silence]
                probe.heard(at: now, timing)
            }
            if now >= probe.backoff.next {
                probe.backoff.advance(to: now)
                ping(at: now)
            }
            phase = .probing(probe, until: until)
        case .up(var watch):
            if now >= watch.end(timing, roundTrip) {
                guard watch.hasSlept(until: now) else { return offerAgain() }  // [dgram.silence]
                watch.heard(at: now, timing)
            }
            pingUp(watch, at: now)
        case .resting: offerAgain()  // [dgram.rest]
        }
    }

    /// Pings now if a ping is due within half of the interval, because this end is awake and sends another one, or answers one:
    /// both ends are then woken once for both. One that waits for its answer is not repeated earlier for that.
    package mutating func joinPing(at now: Moment) {
        guard case .up(let watch) = phase, !watch.isAsking, !watch.isMeasuring,
            now + timing.pings / 2 >= watch.nextPing
        else { return }
        pingUp(watch, at: now)
    }

    private mutating func pingUp(_ watch: Watch, at now: Moment) {
        var watch = watch
        watch.asked(at: now, roundTrip)
        phase = .up(watch)
        ping(at: now)
    }

    /// Notes that a content came, whatever it is: the peer lives, and reaches this end. Where one has come to an attempt, the peer's
    /// path may be up, and silence means that what it sends is lost. [dgram.silence]
    mutating func heard(at now: Moment) {
        switch phase {
        case .probing(var probe, let until):
            probe.heard(at: now, timing)
            phase = .probing(probe, until: until)
        case .up(var watch) where watch.isWaiting:
            watch.heard(at: now, timing)
            phase = .up(watch)
        default: break
        }
    }

    /// Notes that a ping since the path is up was answered: the round trip is a guess no longer.
    mutating func measured(at now: Moment) {
        guard lastProbe != nil, case .up(var watch) = phase else { return }
        lastProbe = nil
        watch.measured(at: now, timing)
        phase = .up(watch)
    }

    /// Notes that a message was sent, which has no answer of its own.
    mutating func sent(at now: Moment) {
        guard case .up(var watch) = phase, !watch.isWaiting else { return }
        watch.sent(at: now)
        phase = .up(watch)
    }

    /// Handles the peer's answer to a ping of this pair of numbers.
    mutating func answered(at now: Moment) {
        guard case .probing = phase else { return }
        failures = 0
        wasUp = true
        var watch = Watch(now: now, timing)
        phase = .up(watch)
        say(.up)  // [dgram.path]
        guard roundTrip * 4 > timing.silence else { return }
        lastProbe = lastPing
        watch.measure()
        pingUp(watch, at: now)  // [dgram.silence]
    }
}
