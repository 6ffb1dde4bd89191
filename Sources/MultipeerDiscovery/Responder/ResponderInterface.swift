import MultipeerCore

/// One interface on which a responder speaks: what is said and waits in each family, and the announcement of the host's
/// addresses.
struct ResponderInterface: Sendable {
    private(set) var scope: Scope
    /// Those of the families in which the group can be reached.
    var schedulers: [Family: ResponseScheduler] = [:]
    /// The host's addresses are being announced.
    var announcing: Registration.Steps?

    init(_ scope: Scope) {
        self.scope = scope
        for family in scope.families { schedulers[family] = ResponseScheduler() }
    }

    /// Its addresses or families are others now. What was said in a family that stays counts as said.
    mutating func change(to new: Scope) {
        for family in scope.families.subtracting(new.families) { schedulers[family] = nil }
        for family in new.families.subtracting(scope.families) { schedulers[family] = ResponseScheduler() }
        scope = new
    }

    /// After a sleep nobody waits any more.
    mutating func discardPending() {
        for family in Family.allCases { schedulers[family]?.discardPending() }
    }

    /// Nothing more of what belongs to the advert.
    mutating func drop(_ id: AdvertID) {
        for family in Family.allCases { schedulers[family]?.drop(id) }
    }

    /// The host's name or addresses are others now: nothing was said of them yet.
    mutating func forgetHost() {
        for family in Family.allCases { schedulers[family]?.forgetHost() }
    }
}
