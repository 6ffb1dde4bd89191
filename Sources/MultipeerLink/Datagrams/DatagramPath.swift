package import MultipeerCore
package import MultipeerFraming

/// The path of a link's unreliable messages over UDP: which end receives under which association number, when to start
/// again, and whether datagrams arrive. Spec 10.
///
/// ```
///                   both offers                  handshake done              pong
///   idle ──────────────────────▶ shaking hands ─────────────────▶ probing ───────▶ up
///     ▲                            │  ▲  ▲   (plain: at once) ───────▲  │           │
///     │ the peer wants none        │  │  └── a new offer of either ─────┴───────────┤
///     └────── (from any) ──────────│  │ time, a new offer of the peer                │
///                                  ▼  │                                              │
///                                resting ◀──── 10 s without a pong, a fault, 3 missed ┘
/// ```
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
    }

    package struct Timing: Equatable, Sendable {
        /// How long a new pair of association numbers may take until the first pong.
        package var handshakeTimeout = Duration.seconds(10)
        /// The time after that, or after the path went down, until this side tries again. [dgram.path]
        package var rest = Duration.seconds(30)
        /// The interval of pings on a path that is up; one that can be sent together with another is sent earlier.
        package var pings = Duration.seconds(5)

        package init() {}
    }

    package enum Phase: Equatable, Sendable {
        /// One of the two offers is missing.
        case idle
        case shakingHands(HandshakeTimer, until: Moment)
        /// Contents can be exchanged; whether they arrive is not known yet.
        case probing(Backoff, until: Moment)
        /// `missed`: consecutive pings without an answer.
        case up(missed: Int, isAsked: Bool, next: Moment)
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
    private let timing: Timing
    private var actions: [Action] = []
    /// The number of faults since the path was last up.
    private var faults = 0

    /// The sequence number of the next content to be sent.
    var sequence: UInt32 = 0
    var window = ReplayWindow()
    /// The last ping, and the last one before this pair of numbers: the answer to an older one is meaningless.
    var lastPing: UInt64 = 0
    var lastForeignPing: UInt64 = 0
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
        begin(at: now)
        return offer
    }

    /// Handles the peer's DGRAM: it replaces the previous one, and both ends start again. [dgram.restart]
    package mutating func receive(_ offer: DatagramOffer, at now: Moment) {
        remote = offer.port != 0 && offer.association != 0 ? offer : nil  // [dgram.offer]
        begin(at: now)
    }

    /// Starts with the two association numbers, or becomes idle when one is missing.
    private mutating func begin(at now: Moment) {
        guard let local, let remote else {
            stop(.idle)
            return
        }
        if case .up = phase { say(.down) }
        sequence = 0
        window = ReplayWindow()
        lastForeignPing = lastPing
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
}

// MARK: - Handshake

extension DatagramPath {
    /// Notes how many flights the channel has made: a new one restarts at the shortest retransmission interval.
    package mutating func handshakeMoved(flights: Int, at now: Moment) {
        guard case .shakingHands(var timer, let until) = phase else { return }
        timer.made(flights, at: now)
        phase = .shakingHands(timer, until: until)
    }

    /// Handles the completion of the channel's handshake.
    package mutating func established(at now: Moment) {
        guard case .shakingHands(_, let until) = phase else { return }
        probe(until: until, at: now)
    }

    /// Handles a failure of the channel: it is dropped, and this side starts again after a pause that grows
    /// with every fault. [dgram.restart]
    package mutating func failed(at now: Moment) {
        guard isRunning else { return }
        faults += 1
        stop(.resting(until: now + Self.rest(after: faults)))
    }

    private mutating func probe(until: Moment, at now: Moment) {
        phase = .probing(Backoff(now: now), until: until)
        ping()
    }

    static func rest(after faults: Int) -> Duration { .seconds(min(1 << min(faults - 1, 5), 30)) }
}

// MARK: - Time

extension DatagramPath {
    /// The pause before the next try. The controlling end tries first, so that one offer serves both.
    private var rest: Duration { timing.rest + (isControlling ? .zero : .seconds(1)) }
    private static let mostMissed = 3

    /// The next time at which `advance` has an effect.
    package var deadline: Moment? {
        switch phase {
        case .idle: nil
        case .shakingHands(let timer, let until): min(timer.backoff.next, until)
        case .probing(let backoff, let until): min(backoff.next, until)
        case .up(_, _, let next): next
        case .resting(let until): until
        }
    }

    package mutating func advance(to now: Moment) {
        guard let deadline, now >= deadline else { return }
        switch phase {
        case .idle: break
        case .shakingHands(var timer, let until):
            guard now < until else { return stop(.resting(until: now + rest)) }  // [dgram.path]
            timer.backoff.advance(to: now)  // [dgram.retransmit]
            phase = .shakingHands(timer, until: until)
            say(.retransmit)
        case .probing(var backoff, let until):
            guard now < until else { return stop(.resting(until: now + rest)) }  // [dgram.path]
            backoff.advance(to: now)
            phase = .probing(backoff, until: until)
            ping()
        case .up(let missed, let isAsked, _):
            let missed = isAsked ? missed + 1 : 0
            guard missed < Self.mostMissed else { return stop(.resting(until: now + rest)) }  // [dgram.path]
            phase = .up(missed: missed, isAsked: true, next: now + timing.pings)  // [dgram.path]
            ping()
        case .resting:
            // The previous offer remains valid until the owner has drawn a new number. [dgram.restart]
            phase = .idle
            say(.drawAssociation)
        }
    }

    /// Pings now if a ping is due within half of the interval, because this end is awake and sends another one, or answers one:
    /// both ends are then woken once for both. One that waits for its answer is not repeated earlier for that.
    package mutating func joinPing(at now: Moment) {
        guard case .up(_, isAsked: false, let next) = phase, now + timing.pings / 2 >= next else { return }
        phase = .up(missed: 0, isAsked: true, next: now + timing.pings)  // [dgram.path]
        ping()
    }

    /// Handles the peer's answer to a ping of this pair of numbers.
    mutating func answered(at now: Moment) {
        switch phase {
        case .probing:
            faults = 0
            phase = .up(missed: 0, isAsked: false, next: now + timing.pings)
            say(.up)  // [dgram.path]
        case .up(_, _, let next): phase = .up(missed: 0, isAsked: false, next: next)
        case .idle, .shakingHands, .resting: break
        }
    }
}
