package import MultipeerCore
package import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerLink
package import MultipeerMesh

/// What the owner of a `SessionEngine` has to do, in order. The first group are orders, the second one events.
package enum SessionOutput: Sendable {
    case connection(ConnectionAction)
    /// May the holder of this connection's key be linked? `decide` has the answer.
    case ask(UID, ConnectionID)
    /// The members' copy of our connection data is old: call `connectionData`, or `postponeRenewal`.
    case renewData
    /// The verification code of this link needs its key: call `verificationKey`, or `verificationFailed`.
    case deriveVerificationKey(ConnectionID)
    case datagram(ConnectionID, DatagramAction)

    /// The connection is a link from now on; `remote` are the limits of the peer's HELLO. `isMesh`: entries of the
    /// mesh travel on it.
    indirect case linked(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
    /// Reliable messages. `consumed` is due when the application has taken them, also after the link's end.
    case messages(ConnectionID, [IncomingMessage])
    case channels(ConnectionID, [ChannelEvent])
    /// The session holds too much unread: this channel of the peer was stopped.
    case relieved(ConnectionID, channel: UInt32)
    /// The peer has received everything that was sent before `mark` was called with this number.
    case markReached(UInt64)
    /// The peer's user wants to compare codes. `eventsTaken` is due when the application has taken it.
    case verificationRequested(PeerID)
    /// What became of these requests for a code.
    case verified([UInt64], Result<String, VerificationFault>)
    /// The link is over. Nothing about it comes after this.
    case unlinked(ConnectionID, PeerID, DisconnectReason)
    /// The application is told this. `eventsTaken` is due when it has taken it.
    case state(PeerID, PeerState)
    /// An attempt is over, with a link when there is no reason. Once for each attempt.
    case settled(UID, DisconnectReason?)
    /// What a `connect` came to: a link when there is no reason. Once for each.
    case connectEnded(ConnectRequestID, DisconnectReason?)
    /// The session leaves, and this invitation must not go on.
    case abandoned(ConnectRequestID)
    /// The session has left, because it was told to or because its mesh has too many members: no connection remains.
    /// `restart` begins its next instance.
    case left
}
