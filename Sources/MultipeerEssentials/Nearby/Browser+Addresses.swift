public import MultipeerCore
import MultipeerHandshake
public import MultipeerTransport

extension Browser {
    /// Invites the peer that listens for invitations at one of these addresses, the likeliest first, and returns it when it is
    /// linked in `session`: for networks without multicast. The browser need not be running.
    ///
    /// Like `invite(_:to:)`, with the same question at the other side and the same errors. Which peer is there is known once it
    /// has accepted; anyone may be at an address, so the link is not verified without a code. The port is that of
    /// `DiscoveryConfiguration.port` at the other side. Cancelling the task withdraws the invitation.
    ///
    /// Throws `invalidArgument` without addresses, too.
    @discardableResult
    public nonisolated func invite(
        at addresses: [SocketAddress], to session: Session, code: InvitationCode? = nil,
        validity: InvitationCode.Validity = .once, context: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) async throws(MultipeerError) -> PeerID {
        try await invite(
            at: addresses, to: session, code: code, validity: validity, context: context, timeout: timeout
        ) { _ in true }
    }

    /// The same; `prefix`: the first digits of the id of the peer that is meant. Its key has to prove them before it is sent the
    /// context. `isExpected`: whether the peer that has accepted is the one that was meant. Another one gets no data.
    package nonisolated func invite(
        at addresses: [SocketAddress], to session: Session, code: InvitationCode? = nil,
        validity: InvitationCode.Validity = .once, context: [UInt8]? = nil, timeout: Duration = .seconds(30),
        proving prefix: UIDPrefix? = nil, isExpected: @escaping @Sendable (PeerID) -> Bool
    ) async throws(MultipeerError) -> PeerID {
        guard session.peer == peer else {
            throw MultipeerError(.invalidArgument, "\(peer) invites, and the session is of \(session.peer)")
        }
        guard !addresses.isEmpty else { throw MultipeerError(.invalidArgument, "no address to invite at") }
        try OutgoingInvitation.check(context, timeout)
        let end = EventLoop.currentMoment() + timeout
        let driver = session.driver
        guard await driver.hasRoom(for: .unspecified) else {
            throw MultipeerError(.full, "the session is full: no peer can join")
        }
        let theirs = try await ask(
            at: addresses, for: driver, code, context, timeout, proving: prefix, isExpected: isExpected)
        let other = theirs.peer
        return try await driver.invitation(of: other) { (invitation) async throws(MultipeerError) in
            try await driver.link(
                invitation, with: theirs, to: other, until: end, provenBy: code == nil ? nil : validity)
            return other
        }.get()
    }

    private nonisolated func ask(
        at addresses: [SocketAddress], for driver: SessionDriver, _ code: InvitationCode?,
        _ context: [UInt8]?,
        _ timeout: Duration, proving prefix: UIDPrefix?, isExpected: @escaping @Sendable (PeerID) -> Bool
    ) async throws(MultipeerError) -> ConnectionData {
        let place = addresses.map(\.description).joined(separator: " or ")
        let other = Locked<PeerID?>(nil)
        do throws(InvitationFault) {
            return try await InvitationClient.invite(
                nil, at: addresses, as: peer, identity: driver.identity, context: context, within: timeout,
                code: code, proving: prefix,
                keyLog: configuration.keyLog ?? driver.configuration.keyLog, on: driver.loop.host
            ) { (found) async throws(MultipeerError) in
                guard isExpected(found) else {
                    other.withLock { $0 = found }
                    throw MultipeerError(.unreachable, "another peer is there")
                }
                return try await MultipeerError.translating { () async throws(SessionFault) in
                    try await driver.invitationData(for: found.uid)
                }
            }
        } catch {
            if let found = other.withLock({ $0 }) {
                throw MultipeerError(
                    .unreachable, "the peer at \(place) is \(found), another than the given one")
            }
            throw .inviting(error, named: "the peer at \(place)")
        }
    }
}
