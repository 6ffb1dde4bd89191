import MultipeerCore

/// A request for the addresses of a peer.
struct SystemResolution: Sendable {
    let uid: UID
    let type: ServiceType
    let until: Moment
    /// The time until which further addresses may follow, once one is known.
    var settles: Moment?

    var deadline: Moment { min(until, settles ?? until) }
}
