package import MultipeerCore
package import MultipeerFraming
package import MultipeerHandshake
package import MultipeerLink
package import MultipeerMesh

/// What the owner of a `SessionEngine` has to do, in order. The first group are actions, the second one events.
package enum SessionOutput: Sendable {
    case connection(ConnectionAction)
    /// Call `observed` with what TCP knows of the connection, which is a link, if the system reports that.
    case observe(ConnectionID)
    /// Ask whether the holder of this connection's key may be linked, and call `decide` with the answer.
    case ask(UID, ConnectionID)
    /// The members' copy of our connection data is old: call `connectionData`, or `postponeRenewal`.
    case renewData
    /// The verification code of this link needs its key: call `verificationKey`, or `verificationFailed`.
    case deriveVerificationKey(ConnectionID)
    case datagram(ConnectionID, DatagramAction)

    /// The connection is a link from now on; `remote` are the limits of the peer's HELLO. `isMesh`: entries of the
    /// mesh travel on it.
    indirect case linked(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
    /// Reliable messages. The owner calls `consumed` when the application has taken them, also after the link's end.
    case messages(ConnectionID, IncomingBatch)
    case channels(ConnectionID, [ChannelEvent])
    /// The session holds too much unread: this channel of the peer was stopped.
    case relieved(ConnectionID, channel: UInt32)
    /// The peer has received everything that was sent before `mark` was called with this number.
    case markReached(UInt64)
    /// The peer's user wants to compare codes. The owner calls `eventsTaken` when the application has taken the
    /// event.
    case verificationRequested(PeerID)
    /// The result of these requests for a code, or for its confirmation.
    case verified([UInt64], Result<String, VerificationFault>)
    /// Both users have confirmed the code of this link.
    case codeConfirmed(ConnectionID, PeerID)
    /// The link has ended. No output about it follows.
    case unlinked(ConnectionID, PeerID, DisconnectReason)
    /// Report this state to the application. The owner calls `eventsTaken` when the application has taken it.
    case state(PeerID, PeerState)
    /// An attempt has ended, with a link when there is no reason. Once for each attempt.
    case settled(UID, DisconnectReason?)
    /// The outcome of a `connect`: a link when there is no reason. Once for each.
    case connectEnded(ConnectRequestID, DisconnectReason?)
    /// The session leaves, and this invitation must not continue.
    case abandoned(ConnectRequestID)
    /// The session has left, on request or because its mesh has too many members: no connection remains. `restart`
    /// begins its next instance.
    case left
}
