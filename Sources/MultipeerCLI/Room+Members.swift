import Multipeer

/// Who comes, who goes, and why.
extension Room {
    private static let mostDeparted = 8

    func listen() async throws(Complaint) {
        for await event in session.events {
            if isLeaving { continue }
            switch event {
            case .message(let message): try await hear(message)
            case .resource(let resource): announce(resource)
            case .peer(let peer, let state): try await change(peer, state)
            case .verificationRequested(let peer):
                let name = labels[peer]
                screen.note("\(name) wants to compare codes: /code \(name)")
            case .stream: break
            }
        }
    }

    private func change(_ peer: PeerID, _ state: PeerState) async throws(Complaint) {
        meet(peer)
        let name = labels[peer]
        switch state {
        case .connecting:
            members[peer]?.state = .connecting
            screen.note("connecting to \(name)")
        case .connected:
            members[peer]?.begin()
            hasArrived()
            await introduce(peer)
        case .notConnected(let reason):
            let wasLinked = members[peer]?.isLinked == true
            members[peer]?.state = .gone(reason)
            members[peer]?.isVerified = false
            departures += 1
            members[peer]?.age = departures
            offers.remove(of: peer)
            if wasLinked {
                screen.note("\(name) \(reason.departure)")
            } else if members[peer]?.seekers == 0 {
                screen.note("not linked with \(name): \("\(reason)".printable)")
            }
            forget()
            if finder != nil {
                approachAgain(peer)
            } else if reason.code == .full {
                try await renew()
            }
        }
    }

    /// Whoever has to leave a mesh that became too large is a new instance, whose old data leads nowhere.
    private func renew() async throws(Complaint) {
        let mine = try await Complaint.translating { () async throws(MultipeerError) in
            try await session.connectionData(mesh: isMesh)
        }
        guard mine.instance != data?.instance else { return }
        screen.tell("the room has become too full, and you are not in it any more")
        try await publish()
    }

    /// A peer that is heard of.
    func meet(_ peer: PeerID) {
        if members[peer] == nil { members[peer] = RoomMember() }
        for other in labels.add(peer) where other != session.peer {
            screen.note("\(other.displayName.printable) is shown as \(labels[other]) from now on")
        }
    }

    /// Those who went long ago.
    private func forget() {
        let departed = members.filter {
            if case .gone = $0.value.state { $0.value.seekers == 0 } else { false }
        }
        guard departed.count > Room.mostDeparted,
            let one = departed.min(by: { $0.value.age < $1.value.age })?.key
        else { return }
        members[one] = nil
        labels.remove(one)
    }

    private func introduce(_ peer: PeerID) async {
        guard let facts = await session.facts(for: peer) else { return }
        let name = labels[peer]
        screen.note("\(name) joined, \(facts.isEncrypted ? "encrypted" : "not encrypted")")
        guard isVerbose else { return }
        screen.note("\(name) has the peer id \(Dissection.hex(peer.uid.bytes)) at \(facts.address)")
        screen.note(
            "\(name) is protected by \(facts.suite ?? "nothing"), authenticated by \(facts.authentication)")
    }
}
