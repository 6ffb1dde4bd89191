import MultipeerCommandLine
import MultipeerEssentials

/// Joining over discovery: every peer in the room advertises it, and invites every peer that advertises the same. Two peers
/// that invite each other at once get one link.
extension Room {
    /// How long to wait after a failed invitation, at first and at most.
    static let pauses = (first: Duration.seconds(3), longest: Duration.seconds(30))

    /// Runs until the session leaves the room.
    func open(_ finder: RoomDiscovery) async throws(CommandError) {
        try await finder.start()
        DuplicateID.watch(finder.browser) { [screen] in screen.tell($0) }
        let listening = await finder.listeningPlace()
        for line in listening.lines(isVerbose: isVerbose) { screen.note(line) }
        screen.note(
            "you are \(session.peer.displayName.printable) in the room \(finder.room.printable) \(finder.options.place); "
                + (finder.code == nil
                    ? "anyone who joins is connected to you"
                    : "those who have its code can join, and peers that they introduce"))
        if let code = finder.code {
            screen.tell("others join with: \(finder.invocation(code, listening))")
            if own.showsQR { screen.show(QRPicture.lines(for: "\(code)")) }
            tasks.append(Task { await self.watchCode(finder) })
        } else if listening.problem != nil {
            screen.note("others join with: \(finder.invocation(listening))")
        }
        tasks.append(Task { await self.watch(finder) })
        tasks.append(Task { await self.admit(finder) })
        for place in finder.addresses { tasks.append(Task { await self.enter(at: place, finder) }) }
    }

    private func watch(_ finder: RoomDiscovery) async {
        for await event in finder.browser.events where !isLeaving {
            switch event {
            case .found(let peer), .updated(let peer):
                if finder.isHere(peer) { approach(peer.peer, finder) } else { neighbours.remove(peer.peer) }
                if finder.hasName(peer), peer.codeNumber != finder.code?.number { noteOtherCode(of: peer) }
            case .lost(let peer): neighbours.remove(peer)
            }
        }
    }

    /// Says once that a room of the same name has another code, or one at all: the user may have meant that room.
    private func noteOtherCode(of peer: DiscoveredPeer) {
        guard !hasNotedOtherCode else { return }
        hasNotedOtherCode = true
        let problem =
            switch (peer.codeNumber, finder?.code) {
            case (nil, _): "without a code"
            case (_, nil): "that needs a code (--code)"
            default: "with another code"
            }
        screen.note("\(peer.peer.displayName.printable) is in a room of the same name \(problem)")
    }

    private func noteWrongCode(of peer: PeerID) {
        screen.tell("\(members.name(of: peer)) has other words in its code, or has guessed: not let in")
    }

    private func watchCode(_ finder: RoomDiscovery) async {
        for await event in finder.advertiser.codeEvents {
            guard case .wrongGuess(let address, let count, _) = event else { continue }
            let times = count == 1 ? "" : " \(count) times"
            screen.tell("someone at \(address.printable) tried a wrong code\(times), and was not let in")
        }
    }

    /// `isAgain`: failures are not shown.
    private func approach(_ peer: PeerID, _ finder: RoomDiscovery, isAgain: Bool = false) {
        neighbours.add(peer)
        guard !neighbours.isInvited(peer), !members.isLinked(peer) else { return }
        let task = Task {
            await self.invite(peer, finder, isAgain: isAgain)
            if !Task.isCancelled { self.neighbours.endInvitation(of: peer) }
        }
        neighbours.beginInvitation(of: peer, task)
    }

    /// Invites a peer again that is still present after its link has ended, unless this session is leaving.
    func approachAgain(_ peer: PeerID) {
        guard let finder, neighbours.contains(peer), !isLeaving else { return }
        approach(peer, finder, isAgain: true)
    }

    /// Runs until the peer is linked, has declined, or is gone.
    private func invite(_ peer: PeerID, _ finder: RoomDiscovery, isAgain: Bool) async {
        // A peer that has left is no longer present a second later.
        var pause = isAgain ? Room.pauses.first : .zero
        var isTold = isAgain
        defer { members.dismiss(peer) }
        while !isLeaving {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            if members.isLinked(peer) || isLeaving { return }
            meet(peer)
            members.update(peer) { $0.seekers += 1 }
            defer { members.update(peer) { $0.seekers -= 1 } }
            guard await mayInvite(finder) else { return }
            do throws(MultipeerError) {
                try await finder.browser.invite(
                    peer, to: session, code: finder.code, validity: .repeated, context: finder.context,
                    timeout: finder.invitationTimeout)
                endInvitation(finder)
                await noteVerification(of: peer)
                return arrival.linked()
            } catch {
                let isWrong = error.code == .wrongCode
                endInvitation(finder, isWrong: isWrong)
                // A guess is never kept from the user, even if the peer has gone since.
                if isWrong, !isLeaving { noteWrongCode(of: peer) }
                if Task.isCancelled || isLeaving || members.isLinked(peer) { return }
                arrival.failed(error)
                if !isTold, !isWrong {
                    screen.tell("cannot link with \(members.name(of: peer)): \(error.description.printable)")
                }
                isTold = true
                guard error.mayPass else { return }
                pause = Room.longer(pause)
            }
        }
    }

    /// Returns how long to wait after this pause if the next attempt fails, too.
    static func longer(_ pause: Duration) -> Duration {
        pause == .zero ? pauses.first : min(pause * 2, pauses.longest)
    }

    /// Waits until a code may be tried; returns false when the task is cancelled.
    func mayInvite(_ finder: RoomDiscovery) async -> Bool {
        guard finder.code != nil else { return true }
        while let pause = codeAttempts.begin(at: startTime.duration(to: .now)) {
            guard (try? await Task.sleep(for: pause)) != nil else { return false }
        }
        return true
    }

    func endInvitation(_ finder: RoomDiscovery, isWrong: Bool = false) {
        if finder.code != nil { codeAttempts.end(isWrong: isWrong, at: startTime.duration(to: .now)) }
    }

    private func admit(_ finder: RoomDiscovery) async {
        for await invitation in finder.advertiser.invitations {
            Task { await self.answer(invitation, finder) }
        }
    }

    private func answer(_ invitation: Invitation, _ finder: RoomDiscovery) async {
        let inviter = invitation.inviter
        defer { members.dismiss(inviter) }
        do throws(MultipeerError) {
            guard finder.isMeant(invitation), !isLeaving else { return try await invitation.decline() }
            meet(inviter)
            members.update(inviter) { $0.seekers += 1 }
            defer { members.update(inviter) { $0.seekers -= 1 } }
            try await invitation.accept(into: session)
            await noteVerification(of: inviter)
            arrival.linked()
        } catch {
            // If this side also invites the peer, that invitation reports the failure.
            guard !isLeaving, finder.isMeant(invitation), !neighbours.isInvited(inviter),
                !members.isLinked(inviter)
            else { return }
            screen.tell("cannot link with \(members.name(of: inviter)): \(error.description.printable)")
        }
    }
}

extension MultipeerError {
    /// Whether it makes sense to invite the peer again a while later.
    var mayPass: Bool {
        switch code {
        // The place of a peer may have been forged.
        case .timedOut, .unreachable, .busy, .full, .wrongCode, .unknownCode: true
        case .ended: [.timedOut, .lost, .busy, .full].contains(reason?.code)
        default: false
        }
    }
}
