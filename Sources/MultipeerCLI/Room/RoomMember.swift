import MultipeerCommandLine
import MultipeerEssentials

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
    var unconfirmed = UnconfirmedLines()
    /// How it is known who the peer is; nil before the link has been asked for it.
    var verification: PeerVerification?
    /// The digits that were shown for this link, and how often the user has typed wrong ones.
    var digits: VerificationDigits?
    var wrongDigits = 0
    /// Whether the user knows that lines are not sent to it.
    var isNotedAsUnverified = false
    /// How many attempts to link with this peer are running: these report a failure themselves.
    var seekers = 0

    /// When it left, as an increasing number.
    var age = 0

    /// Whether the peer is verified now: the lines of others have no mark.
    var isVerified: Bool { verification?.isVerified == true }

    var isLinked: Bool { if case .linked = state { true } else { false } }

    mutating func begin() {
        state = .linked
        link += 1
        lineQueue = LineQueue()
        unconfirmed = UnconfirmedLines()
        digits = nil
        wrongDigits = 0
        isNotedAsUnverified = false
    }

    mutating func end(_ reason: DisconnectReason, age: Int) {
        state = .gone(reason)
        verification = nil
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
