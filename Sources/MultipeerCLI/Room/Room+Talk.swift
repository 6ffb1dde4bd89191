import Multipeer
import MultipeerCommandLine

/// What is said, and how it gets to each peer at its own pace.
extension Room {
    func say(_ text: String) {
        let peers = members.linked
        guard !peers.isEmpty else { return screen.tell("nobody is here, and nobody heard that") }
        let message = RoomMessage(text, isPrivate: false)
        for peer in peers { post(message.bytes, to: peer) }
    }

    func whisper(_ text: String) {
        guard let (peer, words) = members.find(at: text) else { return nobody(text) }
        guard members.isLinked(peer) else {
            return screen.tell("\(members.name(of: peer)) is not here, and did not hear that")
        }
        guard !words.isEmpty else { return screen.tell("that is '/to NAME text'") }
        post(RoomMessage(words, isPrivate: true).bytes, to: peer)
    }

    func nobody(_ text: String) {
        screen.tell(
            "nobody is called '\(String(text.prefix(63)).printable)', and nothing was sent; /who shows the names"
        )
    }

    private func post(_ bytes: [UInt8], to peer: PeerID) {
        guard let link = members[peer]?.link else { return }
        switch members.update(peer, { $0.lineQueue.post(bytes) }) {
        case .begins: Task { await self.carry(to: peer, over: link) }
        case .dropped(isFirst: true):
            screen.tell("\(members.name(of: peer)) is so far behind that lines are dropped for them")
        case .waits, .dropped, nil: break
        }
    }

    /// Hands over what waits for one peer, which may be slow, until there is nothing more.
    private func carry(to peer: PeerID, over link: Int) async {
        while let line = members.nextLine(for: peer, over: link) {
            do throws(MultipeerError) {
                try await session.send(line, to: peer)
            } catch {
                guard members[peer]?.link == link else { return }
                let count = 1 + (members[peer]?.lineQueue.count ?? 0)
                if error.code == .tooLarge {
                    screen.tell("\(members.name(of: peer)) takes no line as long as that")
                } else if !isLeaving {
                    members.update(peer) { $0.lineQueue = LineQueue() }
                    let lines = count == 1 ? "1 line" : "\(count) lines"
                    screen.tell(
                        "\(lines) did not get to \(members.name(of: peer)): \(error.description.printable)")
                    return
                }
            }
            if let count = members.recovery(of: peer, over: link) {
                screen.tell("\(members.name(of: peer)) has caught up, \(count) lines were dropped for them")
            }
        }
    }

    func hear(_ message: Message) async throws(CommandError) {
        guard let said = RoomMessage(message.bytes) else { return }
        try await screen.put(said.shown(from: members.name(of: message.peer)))
    }
}
