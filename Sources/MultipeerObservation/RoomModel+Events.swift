import Multipeer

// What happens on the network, as the driver reports it.
extension RoomModel {
    /// `verifications`: of the peers that were linked when the events were taken.
    func take(_ events: [Session.Event], _ verifications: [PeerID: PeerVerification] = [:]) {
        for event in events {
            take(event)
            if case .peer(let peer, .connected) = event, let known = verifications[peer] {
                peers.verified(peer, known)
            }
        }
        showPeers()
    }

    private func take(_ event: Session.Event) {
        switch event {
        case .message(let message):
            add(Message(id: nextID(), sender: message.peer, recipient: nil, bytes: message.bytes))
        case .resource(let offer): take(offer)
        case .peer(let peer, let state): take(state, of: peer)
        case .verificationRequested(let peer): peers.requestsVerification(peer)
        case .verified(let peer, let verification): peers.verified(peer, verification)
        case .stream: break
        }
    }

    private func take(_ state: PeerState, of peer: PeerID) {
        let wasConnected = peers.change(peer, to: state)
        guard case .notConnected(let reason) = state else { return }
        let error =
            isOpen ? MultipeerError(.ended, "the link to \(peer) ended: \(reason)", reason: reason) : .stopped
        // An offer belongs to its link; a transfer that is running reports the end of the link by itself.
        for transfer in transfers where transfer.isOffer(of: peer) { transfer.fail(error) }
        // What ended an attempt is the error of the invitation.
        if wasConnected, ![.goodbye, .left].contains(reason.code) { fail(error, about: peer) }
    }

    func take(_ event: Browser.Event) {
        switch event {
        case .found(let peer), .updated(let peer): peers.found(peer)
        case .lost(let peer): peers.lost(peer)
        }
        showPeers()
    }

    private func take(_ offer: IncomingResource) {
        let transfer = Transfer(of: offer)
        add(transfer)
        // Its sender may cancel it before the user has decided.
        let isPerformed = perform { _ in await transfer.watch(offer) }
        if !isPerformed { transfer.fail(.stopped) }
    }

    /// Asks the user, unless the user has invited the same peer: both want the link.
    func take(_ invitation: Invitation) {
        guard isOpen else { return }
        if peers.isInvited(invitation.inviter) { accept(invitation) } else { invitations.append(invitation) }
    }

    func remove(_ invitation: Invitation) { invitations.removeAll { $0 === invitation } }

    /// Shows the peers as they are now. A list that is the same is not changed, so that no view is drawn again.
    func showPeers() {
        let (nearby, members) = (peers.nearby, peers.members)
        if self.nearby != nearby { self.nearby = nearby }
        if self.members != members { self.members = members }
    }
}

// MARK: history

extension RoomModel {
    /// The most bytes that all kept messages have together; the newest is always kept.
    private static let longestHistory = 16 << 20

    func add(_ message: Message) {
        messages.append(message)
        messageBytes += message.bytes.count
        var surplus = 0
        while messages.count - surplus > max(0, historyLimit)
            || messages.count - surplus > 1 && messageBytes > RoomModel.longestHistory
        {
            messageBytes -= messages[surplus].bytes.count
            surplus += 1
        }
        if surplus > 0 { messages.removeFirst(surplus) }
    }

    func add(_ transfer: Transfer) {
        var surplus = transfers.count { $0.hasEnded } - max(0, historyLimit)
        transfers.removeAll { transfer in
            guard surplus > 0, transfer.hasEnded else { return false }
            surplus -= 1
            return true
        }
        transfers.append(transfer)
    }

    /// Adds what a request threw, unless it threw because the room was stopped.
    func note(_ error: MultipeerError, about peer: PeerID?) {
        if isOpen || error.code != .cancelled { fail(error, about: peer) }
    }

    func fail(_ error: MultipeerError, about peer: PeerID?) {
        failures.append(Failure(id: nextID(), peer: peer, error: error))
        let surplus = failures.count - max(0, historyLimit)
        if surplus > 0 { failures.removeFirst(surplus) }
    }
}
