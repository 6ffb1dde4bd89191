import MultipeerCommandLine
import MultipeerEssentials

/// Joining through a member at an address, without discovery.
extension Room {
    /// Invites the member at an address until it is linked, or does not want to be. `isAgain`: failures are not shown.
    func enter(at place: PeerAddress, _ finder: RoomDiscovery, isAgain: Bool = false) async {
        var pause = isAgain ? Room.pauses.first : .zero
        var isTold = isAgain
        if !isAgain { screen.note("inviting the member at \(place.text)") }
        while !isLeaving {
            guard (try? await Task.sleep(for: pause)) != nil, await mayInvite(finder) else { return }
            do throws(MultipeerError) {
                guard let addresses = await addresses(of: place, isTold: isTold) else {
                    endInvitation(finder)
                    // The name of a host may be found again once the network is back.
                    guard isAgain else { return }
                    pause = Room.longer(pause)
                    continue
                }
                let peer = try await finder.browser.invite(
                    at: addresses, to: session, code: finder.code, validity: .repeated,
                    context: finder.context,
                    timeout: finder.invitationTimeout, proving: place.prefix, isExpected: { place.takes($0) })
                endInvitation(finder)
                return try await entered(through: peer, at: place)
            } catch {
                let isWrong = error.code == .wrongCode
                endInvitation(finder, isWrong: isWrong)
                if Task.isCancelled || isLeaving { return }
                arrival.failed(error)
                // A guess is never kept from the user.
                if !isTold || isWrong { screen.tell(finder.explanation(of: error, at: place)) }
                isTold = true
                guard error.mayPass else { return }
                pause = Room.longer(pause)
            }
        }
    }

    private func addresses(of place: PeerAddress, isTold: Bool) async -> [SocketAddress]? {
        do throws(CommandError) {
            return try await place.addresses()
        } catch {
            if !isTold { screen.tell("\(error)") }
            return nil
        }
    }

    private func entered(through peer: PeerID, at place: PeerAddress) async throws(MultipeerError) {
        entrances[peer] = place
        meet(peer)
        if let remark = place.selector?.remark(on: peer) { screen.note(remark) }
        if place.selector?.proves(peer) == true { try await session.confirmID(of: peer) }
        await noteVerification(of: peer)
        arrival.linked()
    }

    /// Invites the member at an address again after its link has ended, unless it has left.
    func enterAgain(after peer: PeerID, _ reason: DisconnectReason, _ finder: RoomDiscovery) {
        guard let place = entrances.removeValue(forKey: peer), !isLeaving, reason.code != .goodbye else {
            return
        }
        tasks.append(Task { await self.enter(at: place, finder, isAgain: true) })
    }
}

extension RoomDiscovery {
    /// Returns why no member at the address was linked, and what to try.
    fileprivate func explanation(of error: MultipeerError, at place: PeerAddress) -> String {
        guard error.code == .declined else { return "\(CommandError(inviting: place.text, error))" }
        return "the peer at \(place.text) is not in the room \(room.printable)"
    }
}
