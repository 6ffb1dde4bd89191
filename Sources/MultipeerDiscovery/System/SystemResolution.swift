import MultipeerCore

/// A request for the addresses of a peer.
struct SystemResolution: Sendable {
    let uid: UID
    let type: ServiceType
    let until: Moment
    /// The time until which further addresses may follow, once one is known.
    var settles: Moment?

    var deadline: Moment { min(until, settles ?? until) }

    static let settling = Duration.milliseconds(250)
    /// How much longer the other family may take, as in RFC 8305 (section 3, resolution delay).
    static let otherFamily = Duration.milliseconds(50)
    /// The maximum number of requests at a time.
    static let most = 256  // [mdns.limit]
    static let mostCandidates = 32  // [mdns.limit]
}
