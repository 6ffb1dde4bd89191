package import MultipeerFraming
package import MultipeerIntroduction

/// What is learnt of others. Stands in until the real one is there.
package struct Querier: Sendable {
    package enum Action: Equatable, Sendable {
        case send(Outgoing)
        case browse(BrowseID, BrowserEvent)
        case resolved(ResolveID, Resolution)
    }

    private var actions: [Action] = []

    package init(seed: UInt64) {}

    package mutating func scopeChanged(_ scope: Scope, at now: Moment) {}
    package mutating func scopeGone(_ id: UInt32, at now: Moment) {}
    package mutating func browse(_ type: ServiceType, hiding: UID?, as id: BrowseID, at now: Moment) {}
    package mutating func stopBrowsing(_ id: BrowseID, at now: Moment) {}
    package mutating func resolve(
        _ uid: UID, of type: ServiceType, within time: Duration, as id: ResolveID, at now: Moment
    ) {
        actions.append(.resolved(id, Resolution()))
    }
    package mutating func reconfirm(_ uid: UID, of type: ServiceType, at now: Moment) {}
    package mutating func receive(_ message: DNSMessage, _ arrival: Arrival, at now: Moment) {}
    package mutating func woke(at now: Moment) {}
    package mutating func advance(to now: Moment) {}
    package var deadline: Moment? { nil }
    package mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }
}
