import MultipeerCore

/// One interface of a responder: what was sent and what waits in each family, and the announcement of the host's
/// addresses.
struct ResponderInterface: Sendable {
    private(set) var scope: Scope
    /// The schedulers of the families in which the group can be reached.
    var schedulers: [Family: ResponseScheduler] = [:]
    /// The announcement of the host's addresses, while it is in progress.
    var announcing: Registration.Steps?

    init(_ scope: Scope) {
        self.scope = scope
        for family in scope.families { schedulers[family] = ResponseScheduler() }
    }

    /// Applies new addresses or families. What was sent in a family that stays counts as sent.
    mutating func change(to new: Scope) {
        for family in scope.families.subtracting(new.families) { schedulers[family] = nil }
        for family in new.families.subtracting(scope.families) { schedulers[family] = ResponseScheduler() }
        scope = new
    }

    /// Discards waiting responses after a sleep.
    mutating func discardPending() {
        for family in Family.allCases { schedulers[family]?.discardPending() }
    }

    /// Drops everything that belongs to the advert.
    mutating func drop(_ id: AdvertID) {
        for family in Family.allCases { schedulers[family]?.drop(id) }
    }

    /// Handles a change of the host's name or addresses: the new ones have not been sent yet.
    mutating func forgetHost() {
        for family in Family.allCases { schedulers[family]?.forgetHost() }
    }
}
