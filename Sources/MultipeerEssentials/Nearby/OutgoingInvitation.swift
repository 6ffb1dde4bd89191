import MultipeerCore
import MultipeerDiscovery
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport

/// One outgoing invitation: it resolves the peer, asks for its consent, and then makes the link.
struct OutgoingInvitation: Sendable {
    let peer: PeerID
    let local: PeerID
    let service: ServiceType
    /// What the peer has to prove before it is sent anything.
    let code: InvitationCode?
    /// How often the peer's code may be used.
    let codeValidity: InvitationCode.Validity
    let context: [UInt8]?
    let timeout: Duration
    /// Receives the secrets of the invitation; nil: the key log of the session does.
    let keyLog: KeyLog?

    private static let timeouts = Duration.seconds(1) ... .seconds(600)
    /// Longer than two queries on a network that loses packets take.
    private static let resolveTimeout = Duration.seconds(5)

    func check(_ session: Session) throws(MultipeerError) {
        guard session.peer == local else {
            throw invalidArgument("\(local) invites, and the session is of \(session.peer)")
        }
        guard peer != local else { throw invalidArgument("\(peer) cannot invite itself") }
        try OutgoingInvitation.check(context, timeout)
    }

    /// Checks what does not depend on the peer and the session.
    static func check(_ context: [UInt8]?, _ timeout: Duration) throws(MultipeerError) {
        guard timeouts ~= timeout else {  // [invite.timeout]
            throw MultipeerError(
                .invalidArgument, "an invitation's timeout is 1 to 600 seconds, not \(timeout)")
        }
        let count = context?.count ?? 0
        guard count <= Limits.invitationContext else {  // [invite.context]
            throw MultipeerError(
                .invalidArgument, "an invitation's context has at most 32,768 bytes, not \(count)")
        }
    }

    private func invalidArgument(_ text: String) -> MultipeerError { MultipeerError(.invalidArgument, text) }

    /// Invites, and links. `backend` is called once the invitation begins, and also reports invalid arguments. `isMarked`: the
    /// session's owner is notified when the attempt failed and no event says so.
    func make(
        for driver: SessionDriver, isMarked: Bool = false,
        asking backend: @escaping @Sendable () async throws(MultipeerError) -> any DiscoveryBackend
    ) async -> Result<Void, MultipeerError> {
        let end = EventLoop.currentMoment() + timeout
        return await driver.invitation(of: peer, isMarked: isMarked) {
            (invitation) async throws(MultipeerError) in
            let backend = try await backend()
            guard await driver.hasRoom(for: peer.uid) else {
                throw MultipeerError(.full, "the session is full: \(peer) cannot join")
            }
            let theirs = try await ask(backend, for: driver, until: end)
            let proof = code == nil ? nil : codeValidity
            try await driver.link(
                invitation, with: theirs, to: peer, until: end, provenBy: proof)
        }
    }

    /// How long to wait for another address after one at which a host without the peer's key responded.
    private static let pause = Duration.milliseconds(500)

    /// Asks for consent where the peer is announced. Where a host without the key of its id responds, the announcement was another
    /// host's, which anyone can make: the search goes on, until the peer is found or the time is over. [uid.proof]
    private func ask(
        _ backend: any DiscoveryBackend, for driver: SessionDriver, until end: Moment
    ) async throws(MultipeerError) -> ConnectionData {
        var refusal: MultipeerError?
        while true {
            let addresses: [SocketAddress]
            do throws(MultipeerError) {
                addresses = try await self.addresses(from: backend, driver.loop)
            } catch {
                throw error.code == .unreachable ? refusal ?? error : error
            }
            let fault: InvitationFault
            do throws(InvitationFault) {
                return try await ask(at: addresses, for: driver, until: end)
            } catch {
                fault = error
            }
            let error = MultipeerError.inviting(fault, named: "\(peer)")
            guard case .foreignKey = fault else { throw fault == .timedOut ? refusal ?? error : error }
            if refusal == nil { driver.loop.lossNotifier.report(.failed(peer.uid)) }
            refusal = error
            guard EventLoop.currentMoment() + OutgoingInvitation.pause < end else { throw error }
            do { try await Pause.sleep(for: OutgoingInvitation.pause) } catch {
                throw MultipeerError.inviting(.cancelled, named: "\(peer)")
            }
        }
    }

    private func addresses(
        from backend: any DiscoveryBackend, _ loop: EventLoop
    ) async throws(MultipeerError) -> [SocketAddress] {
        let resolveTimeout = min(timeout, OutgoingInvitation.resolveTimeout)
        let addresses = try await backend.resolve(peer, service, within: resolveTimeout)
        if addresses.isEmpty {
            loop.lossNotifier.report(.failed(peer.uid))
            throw MultipeerError(.unreachable, "\(peer) is no longer advertised")
        }
        return addresses
    }

    /// Asks for consent; returns the peer's data for the link.
    private func ask(
        at addresses: [SocketAddress], for driver: SessionDriver, until end: Moment
    ) async throws(InvitationFault) -> ConnectionData {
        let peer = peer
        let left = end - EventLoop.currentMoment()
        guard left > .zero else { throw .timedOut }
        do throws(InvitationFault) {
            return try await InvitationClient.invite(
                peer, at: addresses, as: local, identity: driver.identity, context: context,
                within: max(left, .seconds(1)), code: code,
                keyLog: keyLog ?? driver.configuration.keyLog, on: driver.loop.host
            ) { (peer) async throws(MultipeerError) in
                try await MultipeerError.translating { () async throws(SessionFault) in
                    try await driver.invitationData(for: peer.uid)
                }
            }
        } catch {
            switch error {
            // A machine that is gone may not even refuse the connection: then there is no response at all.
            case .unreachable, .timedOut: driver.loop.lossNotifier.report(.failed(peer.uid))
            case .unanswered: noteIfUnreachable(at: addresses, on: driver.loop)
            default: break
            }
            throw error
        }
    }

    /// A user who does not answer is not missed. But the question may have been open because the network was gone.
    private func noteIfUnreachable(at addresses: [SocketAddress], on loop: EventLoop) {
        Task.following { [uid = peer.uid] in
            let isThere: Bool
            do throws(SocketFault) {
                isThere = try await ReachabilityProbe.reaches(addresses, within: .seconds(2), on: loop.host)
            } catch {
                isThere = false
            }
            if !isThere { loop.lossNotifier.report(.failed(uid)) }
        }
    }
}
