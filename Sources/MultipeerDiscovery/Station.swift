import MultipeerCore

/// One interface on which a responder speaks: what is said and waits in each family, and the announcement of the host's
/// addresses.
struct Station: Sendable {
    private(set) var scope: Scope
    /// Those of the families in which the group can be reached.
    var voices: [Family: Voice] = [:]
    /// The host's addresses are being announced.
    var announcing: Claim.Steps?

    init(_ scope: Scope) {
        self.scope = scope
        for family in scope.families { voices[family] = Voice() }
    }

    /// Its addresses or families are others now. What was said in a family that stays counts as said.
    mutating func change(to new: Scope) {
        for family in scope.families.subtracting(new.families) { voices[family] = nil }
        for family in new.families.subtracting(scope.families) { voices[family] = Voice() }
        scope = new
    }

    /// After a sleep nobody waits any more.
    mutating func silence() {
        for family in Family.allCases { voices[family]?.silence() }
    }

    /// Nothing more of what belongs to the advert.
    mutating func drop(_ id: AdvertID) {
        for family in Family.allCases { voices[family]?.drop(id) }
    }

    /// The host's name or addresses are others now: nothing was said of them yet.
    mutating func forgetHost() {
        for family in Family.allCases { voices[family]?.forgetHost() }
    }
}
