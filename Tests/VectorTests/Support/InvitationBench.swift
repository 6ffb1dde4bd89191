import MultipeerHandshake
import Testing

/// One end of an invitation in a test that plays the other one, driven by the events of a table.
protocol InvitationBench {
    /// The state, in the words of the table.
    var state: String { get }
    /// Brings the end from its first state to this one.
    mutating func bring(to state: String) throws
    /// Makes an event happen, and returns what the end did.
    mutating func apply(_ event: String) throws -> RecordedActions
}

extension InvitationBench {
    /// Expects that the end does what the row says.
    mutating func follow(_ row: ChannelRow) throws {
        try bring(to: row.state)
        #expect(state == row.state)
        let did = try apply(row.event)
        #expect(state == row.next, "\(row)")
        #expect(did.names == row.actions, "\(row)")
        #expect(did.code == row.code, "\(row)")
    }
}

extension Inviter.Phase {
    /// The word of the tables.
    var word: String {
        switch self {
        case .connecting: "connecting"
        case .sharing: "sharing"
        case .confirming: "confirming"
        case .asking: "asking"
        case .agreeing: "agreeing"
        case .over: "over"
        }
    }
}

extension Invitee.Phase {
    /// The word of the tables.
    var word: String {
        switch self {
        case .securing: "securing"
        case .greeting: "greeting"
        case .confirming: "confirming"
        case .proven: "proven"
        case .asking: "asking"
        case .agreed: "agreed"
        }
    }
}
