/// Whether the other end of a link is alive: PING when it is idle, and the idle timeout. Spec 14.2.
final class PeerLiveness {
    private unowned let link: PeerLink
    private var pinged: (opaque: [UInt8], at: Instant)?
    private(set) var lastPong: Instant?
    private var lastLook: Instant
    private var graceUntil: Instant?
    /// When something was sent last, and when something was received for the first time after it.
    var lastSent: Instant
    private var firstArrival: Instant?

    init(_ link: PeerLink) {
        self.link = link
        lastLook = link.began
        lastSent = link.began
    }

    func ping() {
        let opaque = link.session.peer.randomBytes(8)
        pinged = (opaque, .now)
        link.send(.ping(opaque))
    }

    func takePong(_ opaque: [UInt8]) throws(ProtocolError) {
        guard pinged?.opaque == opaque else {
            try demand(link.bug != .refusesStrayPong, "an unsolicited PONG")
            return try link.countControl()
        }
        pinged = nil
        lastPong = .now
    }

    /// Sends PING when it is time; returns false when nothing was received for too long.
    func isAlive(_ now: Instant) -> Bool {
        let bug = link.bug
        let lastArrival = link.connection.lastArrival
        if now - lastLook > .seconds(5), bug != .judgesAfterSuspension {
            graceUntil = now + .seconds(3)
            ping()
        }
        lastLook = now
        var silence = now - lastArrival
        if bug == .wantsPongs { silence = max(silence, now - (lastPong ?? link.began)) }
        let hasAsked = pinged.map { $0.at > lastArrival } ?? false
        if silence >= .seconds(3), !hasAsked, bug != .neverPings { ping() }
        if let first = firstArrival, first > lastSent {
            let isBusy = lastArrival - first >= .seconds(1) && now - lastSent >= .seconds(3)
            if isBusy, bug != .onlyListens { ping() }
        } else {
            firstArrival = lastArrival > lastSent ? lastArrival : nil
        }
        let isSpared = graceUntil.map { now < $0 } ?? false
        return silence < .seconds(10) || isSpared || bug == .neverDies
    }
}

/// A probe whether an old link is alive, before a candidate takes its place. Spec 6.5.
struct PeerProbe {
    let link: PeerLink
    let began: Instant
}
