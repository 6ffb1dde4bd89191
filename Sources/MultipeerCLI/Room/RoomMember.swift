import Multipeer
import MultipeerCommandLine

/// One peer of a room, as it is seen from here.
struct RoomMember: Sendable {
    enum State: Sendable {
        case connecting
        case linked
        case gone(DisconnectReason)
    }

    var state = State.connecting
    /// Counts its links, so that what belongs to an old one is not taken for the present one's.
    var link = 0
    var lineQueue = LineQueue()
    /// Whether the user has said that the code is the same on both sides of this link.
    var isVerified = false
    /// The link for which a code was shown.
    var hasCode: Int?
    /// How many are asking for this peer by hand: then they tell why it is not linked.
    var seekers = 0

    /// When it went, as a number that grows.
    var age = 0

    var isLinked: Bool { if case .linked = state { true } else { false } }

    mutating func begin() {
        state = .linked
        link += 1
        lineQueue = LineQueue()
        isVerified = false
    }

    mutating func end(_ reason: DisconnectReason, age: Int) {
        state = .gone(reason)
        isVerified = false
        self.age = age
    }
}

extension DisconnectReason {
    /// How it is said that somebody is not in the room any more.
    var departure: String {
        switch code {
        case .goodbye where undelivered.messages == 0: "left"
        case .goodbye: "left; \(undelivered) not sent".printable
        default: "is gone: \("\(self)".printable)"
        }
    }
}
