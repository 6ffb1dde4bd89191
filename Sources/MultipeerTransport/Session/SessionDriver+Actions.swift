import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity

// MARK: the engine's actions

extension SessionDriver {
    /// Carries out the engine's actions, in order, until there are none left. Actions that follow from them in the meantime are
    /// carried out after those that were already waiting.
    func carryOut() {
        guard !sockets.isCarryingOut, !engine.isQuiet || datagrams.hasDueFlows else { return }
        sockets.isCarryingOut = true
        defer { sockets.isCarryingOut = false }
        var outputs: [SessionOutput] = []
        swap(&outputs, &emptied)
        repeat {
            while takeOutputs(&outputs) {
                for output in outputs { carryOut(output) }
                outputs.removeAll(keepingCapacity: outputs.count <= SessionDriver.usualOutputs)
            }
        } while datagrams.pump(&engine)
        swap(&outputs, &emptied)
    }

    /// A function of its own: as the condition of the loop, the access to the engine would last until the end of its body.
    @inline(never)
    private func takeOutputs(_ outputs: inout [SessionOutput]) -> Bool {
        engine.takeOutputs(swapping: &outputs)
    }

    /// The memory of longer lists is not kept.
    private static let usualOutputs = 64

    private func carryOut(_ output: SessionOutput) {
        switch output {
        case .connection(let order): carryOut(order)
        case .observe(let id): observe(id)
        case .ask(let uid, let id): ask(uid, about: id)
        case .renewData: renewMeshData()
        case .deriveVerificationKey(let id): deriveVerificationKey(id)
        case .linked(let id, let data, let remote, let isMesh): linked(id, data, remote, isMesh: isMesh)
        case .messages(let id, let messages):
            withLink(id) { events.add(messages, on: id, of: $1.peer, &$0) }
        case .channels(let id, let said):
            withLink(id) { engine, link in
                channels.deliver(said, on: id, link, &engine)
            }
        case .relieved(let id, let channel): withLink(id) { channels.relieved(channel, $1) }
        case .markReached(let mark): calls.reached(mark)
        case .datagram(let id, .open): datagrams.openSoon(on: id)
        case .datagram(let id, .draw): engine.datagramAssociation(id, randomness.next(), at: loop.now)
        case .datagram(let id, let order): datagrams.carryOut(order, on: id, &engine)
        case .verificationRequested(let peer):
            events.tell(.verificationRequested(peer), of: peer.uid, &engine)
        case .verified(let requests, let outcome): calls.verified(requests, outcome)
        case .codeConfirmed(let id, let peer): codeConfirmed(id, peer)
        case .unlinked(let id, let peer, let reason): unlinked(id, peer, reason)
        case .state(let peer, let state): stateChanged(of: peer, state)
        case .settled(let uid, let reason):
            if reason != nil {
                trust.withdraw(uid)
                forgetIfUnknown(uid)
            }
        case .connectEnded(let request, let reason): calls.ended(request, reason)
        case .abandoned(let invitation): calls.abandon(invitation)
        case .left: beginInstance()
        }
    }

    private func stateChanged(of peer: PeerID, _ state: PeerState) {
        if case .notConnected(let reason) = state, reason.isSilent, lostLink != peer.uid {
            loop.lossNotifier.report(.failed(peer.uid))
        }
        lostLink = nil
        var state = state
        if case .notConnected(let reason) = state {
            state = .notConnected(trust.explained(reason, of: peer.uid))
        }
        events.tell(peer, state, &engine)
        forgetIfUnknown(peer.uid)
    }

    private func forgetIfUnknown(_ uid: UID) {
        if !isKnown(uid) { trust.forget(uid) }
    }

    // MARK: links

    private func linked(_ id: ConnectionID, _ data: ConnectionData, _ remote: LinkLimits, isMesh: Bool) {
        guard let connection = sockets.connections[id] else { return }
        let uid = data.peer.uid
        // SELECTED, which the end with the higher uid sends, goes out before the application is notified: it may end the process
        // at that moment. It goes first, because the peer waits for it.
        if peer.uid > uid { flush(connection) }
        let sendQueue = queues.links.open(
            uid, longestMessage: Int(clamping: remote.maxMessage),
            waking: { [readyList] in readyList.add(.messages(id)) })
        let key = connection.channel?.peerFingerprint
        let link = SessionLink(
            data.peer, key, sendQueue: sendQueue, suite: connection.channel?.suite,
            group: connection.channel?.group, verification: trust.verification(of: uid, key))
        connection.link = link
        connection.socket.setUserTimeout(configuration.idleTimeout)  // [live.user-timeout]
        connection.userTimeout = UserTimeout(configuration.idleTimeout)
        sockets.unwatch(connection)
        if isMesh { engine.zones = loop.linkLocalZones() }
        events.handler?.linkMade(to: data.peer)
        loop.lossNotifier.report(.linked(uid))
        if addressWatch == nil { addressWatch = watchAddresses() }
    }

    private func unlinked(_ id: ConnectionID, _ peer: PeerID, _ reason: DisconnectReason) {
        guard let connection = sockets.connections[id], let link = connection.link else { return }
        connection.link = nil
        let untaken = queues.links.close(peer.uid, with: reason)
        channels.fail(link, reason)
        datagrams.close(link)
        calls.linkEnded(to: peer.uid)
        events.linkEnded(to: peer, reason, untaken: untaken)
        guard reason.isSilent else { return }
        // The state that is reported next says the same.
        lostLink = peer.uid
        loop.lossNotifier.report(.lost(peer.uid))
    }
}

extension DisconnectReason {
    /// Whether the peer did not say that it ends: it may be there again soon.
    fileprivate var isSilent: Bool { code == .lost || code == .timedOut }
}
