package import MultipeerIntroduction

/// What is said of the local peers: advertisements, claimed, announced, defended, answered for and taken back.
package struct Responder: Sendable {
    package enum Action: Equatable, Sendable {
        case send(Outgoing)
        case registered(AdvertID)
        case renamed(AdvertID)
    }

    private var actions: [Action] = []

    package init(host: UInt64, seed: UInt64, hostTTL: UInt32, knownUnique: Bool) {}

    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {}
    package mutating func scopeGone(_ id: UInt32, at now: Moment) {}
    package mutating func advertise(_ advert: Advert, as id: AdvertID, at now: Moment) throws(EngineFault) {}
    package mutating func update(_ id: AdvertID, info: DiscoveryInfo, at now: Moment) {}
    package mutating func withdraw(_ id: AdvertID, at now: Moment) {}
    package mutating func receive(_ message: DNSMessage, _ arrival: Arrival, at now: Moment) {}
    package mutating func woke(at now: Moment) {}
    package mutating func advance(to now: Moment) {}
    package var deadline: Moment? { nil }
    package var isQuiet: Bool { true }
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }
}
