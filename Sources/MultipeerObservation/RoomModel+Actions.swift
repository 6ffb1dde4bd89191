public import Multipeer
public import MultipeerFoundation

// What a user does. Nothing here waits or throws: the properties show what comes of it.
extension RoomModel {
    /// Invites a peer, which becomes a member when it accepts; accepts its invitation, if there is one. Does nothing
    /// when it is a member or invited already.
    ///
    /// When it declines, does not answer in time or cannot be reached, the reason is in `failures`. The context, up to
    /// 32,768 bytes, is sent encrypted, but to any host that advertises as that peer.
    public func invite(_ peer: PeerID, context: [UInt8]? = nil, timeout: Duration = .seconds(30)) {
        if let invitation = invitations.first(where: { $0.inviter == peer }) { return accept(invitation) }
        guard peers.invite(peer) else { return }
        showPeers()
        perform(with: peer) { driver throws(MultipeerError) in
            try await driver.browser.invite(peer, to: driver.session, context: context, timeout: timeout)
        } finally: { room in
            room.peers.endInvitation(of: peer)
            room.showPeers()
        }
    }

    /// Accepts an invitation: its inviter becomes a member.
    public func accept(_ invitation: Invitation) {
        remove(invitation)
        perform(with: invitation.inviter) { driver throws(MultipeerError) in
            try await invitation.accept(into: driver.session)
        }
    }

    /// Declines an invitation.
    public func decline(_ invitation: Invitation) {
        remove(invitation)
        perform(with: invitation.inviter) { _ throws(MultipeerError) in try await invitation.decline() }
    }

    /// Sends a text to one peer, or to all that are connected; otherwise like `send(_:to:)` of an array.
    public func send(_ text: String, to peer: PeerID? = nil) { send(Array(text.utf8), to: peer) }

    /// Sends a message to one peer, or to all that are connected, and adds it to `messages` when one of them gets it.
    ///
    /// Messages to one peer arrive in the order of the calls, and a slow peer delays no other. At most 64 MiB wait for
    /// each; what cannot be accepted for a peer is in `failures`.
    public func send(_ message: [UInt8], to peer: PeerID? = nil) {
        let recipients = peer.map { [$0] } ?? members.filter { $0.state == .connected }.map(\.id)
        if recipients.isEmpty {
            note(MultipeerError(.notConnected, "no peer is connected"), about: nil)
        }
        var isAccepted = false
        for recipient in recipients {
            do throws(MultipeerError) {
                try session.post(message, to: recipient, delivery: .reliable)
                isAccepted = true
            } catch {
                note(error, about: recipient)
            }
        }
        if isAccepted { add(Message(id: nextID(), sender: self.peer, recipient: peer, bytes: message)) }
    }

    /// Sends a file to a member, which decides whether to receive it. The transfer is also in `transfers`.
    @discardableResult
    public func send(file url: URL, to peer: PeerID) -> Transfer {
        let transfer = Transfer(to: peer, name: url.lastPathComponent)
        add(transfer)
        let isPerformed = perform { driver in await transfer.send(url, in: driver.session) }
        if !isPerformed { transfer.fail(.notRunning) }
        return transfer
    }

    /// Receives a file that a member offers, into `directory` or the session's own, under a random name. Does nothing
    /// when the transfer is not an offer.
    public func receive(_ transfer: Transfer, into directory: URL? = nil) {
        guard let offer = transfer.takeOffer() else { return }
        let isPerformed = perform { _ in await transfer.receive(offer, into: directory) }
        if !isPerformed {
            offer.decline()
            transfer.fail(.notRunning)
        }
    }

    /// Cancels a transfer, or declines one that waits. Does nothing when it has ended.
    public func cancel(_ transfer: Transfer) { transfer.cancel() }

    /// Removes a transfer that has ended from `transfers`.
    public func dismiss(_ transfer: Transfer) {
        if transfer.hasEnded { transfers.removeAll { $0 === transfer } }
    }

    /// Removes a failure that the user has seen from `failures`.
    public func dismiss(_ failure: Failure) { failures.removeAll { $0.id == failure.id } }

    /// Does what has to do with a peer as a child of the run; what it throws is a failure.
    private func perform(
        with peer: PeerID, _ body: @escaping @Sendable (RoomDriver) async throws(MultipeerError) -> Void,
        finally end: @escaping @MainActor @Sendable (RoomModel) -> Void = { _ in }
    ) {
        let isPerformed = perform { driver in
            var failure: MultipeerError?
            do throws(MultipeerError) { try await body(driver) } catch { failure = error }
            await driver.tell { [failure] room in
                end(room)
                if let failure { room.note(failure, about: peer) }
            }
        }
        if !isPerformed {
            end(self)
            fail(.notRunning, about: peer)
        }
    }
}
