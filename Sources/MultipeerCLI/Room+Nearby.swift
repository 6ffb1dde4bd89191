import Multipeer

/// How others get in by themselves: everybody in the room announces it, and invites whoever announces the same. Two who
/// invite each other at once get one link.
extension Room {
    /// How long somebody is left alone after an invitation that led to nothing, at first and at most.
    private static let pauses = (first: Duration.seconds(3), longest: Duration.seconds(30))
    /// Nobody is asked here, so nobody takes long.
    private static let timeout = Duration.seconds(20)

    /// Until the room is left.
    func open(_ finder: RoomFinder) async throws(Complaint) {
        try await finder.start()
        screen.note(
            "you are \(session.peer.displayName.printable) in the room \(finder.room.printable); whoever comes into it "
                + "\(finder.options.place) is linked with you")
        tasks.append(Task { await self.watch(finder) })
        tasks.append(Task { await self.admit(finder) })
    }

    private func watch(_ finder: RoomFinder) async {
        for await event in finder.browser.events where !isLeaving {
            switch event {
            case .found(let peer), .updated(let peer):
                if finder.isHere(peer) { approach(peer.peer, finder) } else { giveUp(peer.peer) }
            case .lost(let peer): giveUp(peer)
            }
        }
    }

    private func giveUp(_ peer: PeerID) {
        neighbours.remove(peer)
        approaches.removeValue(forKey: peer)?.cancel()
    }

    /// `isAgain`: what comes of it is told only if it is a link.
    private func approach(_ peer: PeerID, _ finder: RoomFinder, isAgain: Bool = false) {
        neighbours.insert(peer)
        guard approaches[peer] == nil, members[peer]?.isLinked != true else { return }
        approaches[peer] = Task {
            await self.invite(peer, finder, isAgain: isAgain)
            if !Task.isCancelled { self.approaches[peer] = nil }
        }
    }

    /// A link with somebody who is still there has ended: seeks them again, unless this is the end of the room.
    func approachAgain(_ peer: PeerID) {
        guard let finder, neighbours.contains(peer), !isLeaving else { return }
        approach(peer, finder, isAgain: true)
    }

    /// Until the peer is linked, does not want it, or is gone.
    private func invite(_ peer: PeerID, _ finder: RoomFinder, isAgain: Bool) async {
        // Whoever has left is not seen any more a second later.
        var pause = isAgain ? Room.pauses.first : .zero
        var isTold = isAgain
        defer { dismiss(peer) }
        while !isLeaving {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            if members[peer]?.isLinked == true || isLeaving { return }
            meet(peer)
            members[peer]?.seekers += 1
            defer { members[peer]?.seekers -= 1 }
            do throws(MultipeerError) {
                try await finder.browser.invite(
                    peer, to: session, context: finder.context, timeout: Room.timeout)
                return hasArrived()
            } catch {
                if Task.isCancelled || isLeaving || members[peer]?.isLinked == true { return }
                failure = error.reason ?? failure
                if !isTold { screen.tell("not linked with \(labels[peer]): \(error.description.printable)") }
                isTold = true
                guard error.mayPass else { return }
                pause = pause == .zero ? Room.pauses.first : min(pause * 2, Room.pauses.longest)
            }
        }
    }

    /// Forgets somebody of whom the session has never told anything: strangers can have any number of names.
    private func dismiss(_ peer: PeerID) {
        guard let member = members[peer], case .connecting = member.state, member.seekers == 0 else { return }
        members[peer] = nil
        labels.remove(peer)
    }

    private func admit(_ finder: RoomFinder) async {
        for await invitation in finder.advertiser.invitations {
            Task { await self.answer(invitation, finder) }
        }
    }

    private func answer(_ invitation: Invitation, _ finder: RoomFinder) async {
        let inviter = invitation.inviter
        defer { dismiss(inviter) }
        do throws(MultipeerError) {
            guard finder.isMeant(invitation), !isLeaving else { return try await invitation.decline() }
            meet(inviter)
            members[inviter]?.seekers += 1
            defer { members[inviter]?.seekers -= 1 }
            try await invitation.accept(into: session)
            hasArrived()
        } catch {
            // Whoever is approached as well hears of it there.
            guard !isLeaving, finder.isMeant(invitation), approaches[inviter] == nil,
                members[inviter]?.isLinked != true
            else { return }
            screen.tell("not linked with \(labels[inviter]): \(error.description.printable)")
        }
    }
}

extension MultipeerError {
    /// Whether it makes sense to invite somebody again a while later.
    fileprivate var mayPass: Bool {
        switch code {
        case .timedOut, .unreachable, .busy, .full: true
        case .ended: [.timedOut, .lost, .busy, .full].contains(reason?.code)
        default: false
        }
    }
}
