import MultipeerCommandLine
import MultipeerEssentials

/// Messages, and how they are sent to each peer at its own pace.
extension Room {
    func say(_ text: String) {
        let peers = members.linked.filter(mayReceive)
        guard !peers.isEmpty else { return screen.tell("nobody else is in the room; message not sent") }
        let messages = messages(text, isPrivate: false)
        for peer in peers { post(messages, to: peer) }
    }

    /// Returns what carries a text, and says when that is more than one message.
    private func messages(_ text: String, isPrivate: Bool) -> [[UInt8]] {
        let messages = RoomMessage.all(text, isPrivate: isPrivate).map(\.bytes)
        if messages.count > 1 { screen.note("this is long, and leaves as \(messages.count) messages") }
        return messages
    }

    func whisper(_ text: String) {
        guard let (peer, words) = members.find(at: text) else { return nobody(text) }
        guard members.isLinked(peer) else {
            return screen.tell("\(members.name(of: peer)) is not in the room; message not sent")
        }
        guard !words.isEmpty else { return screen.tell("usage: /to NAME text") }
        guard mayReceive(peer) else { return }
        post(messages(words, isPrivate: true), to: peer)
    }

    /// Whether a peer gets what is sent. On a terminal the user has seen that a peer is not verified; a script has to accept it
    /// with `--unverified`.
    func mayReceive(_ peer: PeerID) -> Bool {
        guard let member = members[peer], !acceptsUnverified, !screen.isTerminal else { return true }
        if case .knownKey? = member.verification { return true }
        if member.isVerified { return true }
        if !member.isNotedAsUnverified {
            members.update(peer) { $0.isNotedAsUnverified = true }
            screen.tell(
                "\(members.name(of: peer)) is not verified: nothing is sent there (--unverified sends it)")
        }
        return false
    }

    /// Says that no peer has the name that the text begins with, and which names there are.
    func nobody(_ text: String) {
        let name = text.prefix(63).prefix { $0 != " " && $0 != ":" }
        let names = members.linked.map(members.name)
        let hint =
            if let meant = Spelling.nearest(String(name), of: names) {
                "did you mean '\(meant)'?"
            } else if names.isEmpty {
                "no other peer is here"
            } else {
                "here are: \(names.joined(separator: ", "))"
            }
        screen.tell("no peer is named '\(String(name).printable)', and nothing was sent; \(hint)")
    }

    private func post(_ messages: [[UInt8]], to peer: PeerID) {
        for message in messages { post(message, to: peer) }
    }

    private func post(_ bytes: [UInt8], to peer: PeerID) {
        guard let link = members[peer]?.link else { return }
        switch members.update(peer, { $0.lineQueue.post(bytes) }) {
        case .begins: Task { await self.carry(to: peer, over: link) }
        case .dropped(isFirst: true):
            screen.tell("\(members.name(of: peer)) is too slow: dropping lines to them")
        case .waits, .dropped, nil: break
        }
    }

    /// Sends the lines that wait for one peer, which may be slow, until there are none left.
    private func carry(to peer: PeerID, over link: Int) async {
        while let line = members.nextLine(for: peer, over: link) {
            do throws(MultipeerError) {
                try await session.send(line, to: peer)
                accepted(line, for: peer, over: link)
            } catch {
                let name = members.name(of: peer)
                if error.code == .tooLarge {
                    screen.tell("\(name) does not take a line as long as this; it was not sent there")
                } else if !isLeaving {
                    // The link has ended, or ends now: that is reported, and the lines after this one are named, by `change`.
                    screen.tell(UnconfirmedLines.note(line, isSent: false, to: name))
                }
            }
            if let count = members.recovery(of: peer, over: link) {
                screen.tell("\(members.name(of: peer)) has caught up; lines dropped: \(count)")
            }
        }
    }

    /// Notes that a link has a line, which the peer is asked to confirm.
    private func accepted(_ line: [UInt8], for peer: PeerID, over link: Int) {
        guard members[peer]?.link == link, members.isLinked(peer) else {
            // The link has ended meanwhile, and what was unconfirmed then has been named.
            return screen.tell(UnconfirmedLines.note(line, isSent: true, to: members.name(of: peer)))
        }
        members.update(peer) { $0.unconfirmed.add(line) }
        askToConfirm(peer, over: link)
    }

    private func askToConfirm(_ peer: PeerID, over link: Int) {
        guard members[peer]?.link == link, let number = members.update(peer, { $0.unconfirmed.ask() }) ?? nil
        else { return }
        Task {
            // Fails if the link ends, and then the lines are named.
            do throws(MultipeerError) { try await session.waitUntilReceived(by: peer) } catch { return }
            guard members[peer]?.link == link else { return }
            members.update(peer) { $0.unconfirmed.confirm(upTo: number) }
            askToConfirm(peer, over: link)
        }
    }

    /// Names the lines that a link had and its peer has not confirmed, and those that still waited for the link. `unsent`: how many
    /// the session knows to be unsent.
    func nameUnconfirmed(to peer: PeerID, unsent: Int = 0) {
        let name = members.name(of: peer)
        let notes = members.update(peer) { member in
            let waiting = member.lineQueue.removeAll()
            for line in waiting { member.unconfirmed.add(line) }
            return member.unconfirmed.end(unsent: unsent + waiting.count, to: name)
        }
        for note in notes ?? [] { screen.tell(note) }
    }

    func hear(_ message: Session.Message) async throws(CommandError) {
        guard let said = RoomMessage(message.bytes) else { return }
        let style = screen.style
        let name = style.name(members.speaker(message.peer), of: message.peer)
        try await screen.put(said.shown(from: name, in: style))
    }
}
