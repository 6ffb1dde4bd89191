package import MultipeerCore
package import MultipeerFraming

/// What decides over the connections of invitations, at one end.
///
/// Pure: connections are numbers, time is told. After every call the owner carries out `takeActions()` in order and sleeps
/// until `deadline`.
package protocol InvitationMachine: Sendable {
    /// What the application is told, or asked for.
    associatedtype Event: Sendable
    typealias Action = InvitationAction<Event>

    /// Whether INVITE is what this end is sent: only that frame may be long. [frame.limit-before]
    static var takesInvite: Bool { get }

    var deadline: Moment? { get }
    mutating func takeActions() -> [Action]

    /// TCP stands; TLS is to follow.
    mutating func connected(_ id: ConnectionID, at now: Moment)
    /// TLS stands.
    mutating func secured(_ id: ConnectionID, at now: Moment)
    mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment)
    /// The bytes of a connection were no frames, or frames that may not come.
    mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment)
    /// The connection ended below the frames, and is the machine's no more.
    mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment)
    mutating func advance(to now: Moment)
}

package enum InvitationAction<Event: Sendable>: Sendable {
    case dial(ConnectionID, Candidate)
    /// One whole frame.
    case send(ConnectionID, [UInt8])
    /// Tell the code, unless it is OK, if the channel is up, then end the connection. No further call about it comes.
    case close(ConnectionID, CloseCode)
    case tell(Event)
}

extension InvitationAction: Equatable where Event: Equatable {}
