package import MultipeerCore
package import MultipeerFraming

/// The state machine of the connections of invitations, at one end.
///
/// Pure: connections are numbers, time is an input. After every call the owner carries out `takeActions()` in order and
/// sleeps until `deadline`.
package protocol InvitationMachine: Sendable {
    /// Notifications and requests to the application.
    associatedtype Event: Sendable
    typealias Action = InvitationAction<Event>

    /// Whether this end receives INVITE: only that frame may be long. [frame.limit-before]
    static var takesInvite: Bool { get }

    /// Whether INVITE may follow the frames that came on this connection, so that the next frame may be long, too.
    func awaitsInvite(on id: ConnectionID) -> Bool
    /// Whether each connection needs secrets, because a code has to be proven on it.
    var needsSecrets: Bool { get }
    var deadline: Moment? { get }
    mutating func takeActions() -> [Action]

    /// Handles an established TCP connection; TLS follows.
    mutating func connected(_ id: ConnectionID, at now: Moment)
    /// Handles an established TLS channel. `keyedUID`: the one that the peer's key hashes to. `secrets`: those of this connection,
    /// if they are needed.
    mutating func secured(_ id: ConnectionID, keyedUID: UID?, _ secrets: CodeSecrets?, at now: Moment)
    mutating func receive(
        _ id: ConnectionID, _ header: FrameHeader, _ payload: Span<UInt8>, at now: Moment)
    /// Handles a connection whose bytes were not frames, or were frames that are not allowed.
    mutating func violated(_ id: ConnectionID, _ code: CloseCode, at now: Moment)
    /// Handles a connection that ended below the frame layer; the machine no longer owns it.
    mutating func lost(_ id: ConnectionID, _ connectionFailure: ConnectionFailure, at now: Moment)
    mutating func advance(to now: Moment)
}

extension InvitationMachine {
    package func awaitsInvite(on id: ConnectionID) -> Bool { false }
}

package enum InvitationAction<Event: Sendable>: Sendable {
    case dial(ConnectionID, Candidate)
    /// One whole frame.
    case send(ConnectionID, [UInt8])
    /// Send the code, unless it is OK, if the channel is up, then end the connection. No further call refers to it.
    case close(ConnectionID, CloseCode)
    case tell(Event)
}

extension InvitationAction: Equatable where Event: Equatable {}
