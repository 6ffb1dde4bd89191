import Multipeer

/// What is said: a message for each line, with its end, so that 'multipeer link' is understood and understands. One to a
/// single peer has a byte 1 in front, so that it can be shown as what it is.
extension Room {
    private static let mark: UInt8 = 1

    func say(_ text: String) {
        let peers = linked
        guard !peers.isEmpty else { return screen.tell("nobody is here, and nobody heard that") }
        for peer in peers { post(Array("\(text)\n".utf8), to: peer) }
    }

    func whisper(_ text: String) {
        guard let (peer, words) = labels.find(at: text), peer != session.peer else { return nobody(text) }
        guard members[peer]?.isLinked == true else {
            return screen.tell("\(labels[peer]) is not here, and did not hear that")
        }
        guard !words.isEmpty else { return screen.tell("that is '/to NAME text'") }
        post([Room.mark] + Array("\(words)\n".utf8), to: peer)
    }

    func nobody(_ text: String) {
        screen.tell(
            "nobody is called '\(String(text.prefix(63)).printable)', and nothing was sent; /who shows the names"
        )
    }

    /// Everybody who is linked, always in the same order.
    var linked: [PeerID] { members.filter { $0.value.isLinked }.keys.sorted { $0.uid < $1.uid } }

    private func post(_ bytes: [UInt8], to peer: PeerID) {
        guard let link = members[peer]?.link else { return }
        switch members[peer]?.backlog.post(bytes) {
        case .begins: Task { await self.carry(to: peer, over: link) }
        case .dropped(isFirst: true):
            screen.tell("\(labels[peer]) is so far behind that lines are dropped for them")
        case .waits, .dropped, nil: break
        }
    }

    /// Hands over what waits for one peer, which may be slow, until there is nothing more.
    private func carry(to peer: PeerID, over link: Int) async {
        while members[peer]?.link == link, let line = members[peer]?.backlog.next() {
            do throws(MultipeerError) {
                try await session.send(line, to: peer)
            } catch {
                guard members[peer]?.link == link else { return }
                let count = 1 + (members[peer]?.backlog.count ?? 0)
                if error.code == .tooLarge {
                    screen.tell("\(labels[peer]) takes no line as long as that")
                } else if !isLeaving {
                    members[peer]?.backlog = Backlog()
                    let lines = count == 1 ? "1 line" : "\(count) lines"
                    screen.tell("\(lines) did not get to \(labels[peer]): \(error.description.printable)")
                    return
                }
            }
            if members[peer]?.link == link, let count = members[peer]?.backlog.recovery() {
                screen.tell("\(labels[peer]) has caught up, \(count) lines were dropped for them")
            }
        }
    }

    func hear(_ message: Message) async throws(Complaint) {
        var bytes = message.bytes[...]
        let isPrivate = bytes.first == Room.mark
        if isPrivate { bytes.removeFirst() }
        // The end of what 'multipeer link' has to say.
        if bytes.isEmpty { return }
        let head = labels[message.peer] + (isPrivate ? " > you: " : ": ")
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        try await screen.put(lines.map { "\(head)\(String($0).printable)\n" }.joined())
    }
}
