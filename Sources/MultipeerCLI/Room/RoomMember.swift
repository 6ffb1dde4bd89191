import Multipeer
import MultipeerCommandLine

/// One peer of a room, as this session sees it.
struct RoomMember: Sendable {
    enum State: Sendable {
        case connecting
        case linked
        case gone(DisconnectReason)
    }

    var state = State.connecting
    /// The number of its links so far, to distinguish the current one from earlier ones.
    var link = 0
    var lineQueue = LineQueue()
    /// Whether the user has confirmed that the code is the same on both sides of this link.
    var isVerified = false
    /// The link for which a code was shown.
    var hasCode: Int?
    /// How many attempts to link with this peer are running: these report a failure themselves.
    var seekers = 0

    /// When it left, as an increasing number.
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
    /// The text for a peer that is no longer in the room.
    var departure: String {
        switch code {
        case .goodbye where undelivered.messages == 0: "left"
        case .goodbye: "left; \(undelivered) not sent".printable
        default: "disconnected: \("\(self)".printable)"
        }
    }
}
