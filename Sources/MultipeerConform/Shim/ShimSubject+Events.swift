import Multipeer

// MARK: events of a session

extension ShimSubject {
    /// Messages longer than this are reported without their bytes.
    private static let shown = 1_024

    func listen() {
        let events = context.session.events
        context.keep(
            Task {
                // The events end with each `disconnect`, and the subject may be used again.
                while !Task.isCancelled {
                    for await event in events {
                        await self.gate.passed()
                        await self.hear(event)
                    }
                }
            })
    }

    private func hear(_ event: Session.Event) async {
        switch event {
        case .peer(let peer, let state): await hear(peer, state)
        case .message(let message): await hear(message)
        case .stream(let stream): await streams.hear(stream)
        case .resource(let resource): await resources.hear(resource)
        case .verified(let peer, _):
            await context.pipe.tell("verified", of: context.name, ["peer": .hex(peer.uid.bytes)])
        case .verificationRequested(let peer):
            await context.pipe.tell("code-requested", of: context.name, ["peer": .hex(peer.uid.bytes)])
        }
    }

    private func hear(_ peer: PeerID, _ state: PeerState) async {
        var fields: [String: ShimValue?] = ["peer": .hex(peer.uid.bytes), "name": .text(peer.displayName)]
        let word: String
        switch state {
        case .connecting: word = "connecting"
        case .connected: word = "connected"
        case .notConnected(let reason):
            word = "notConnected"
            fields["reason"] = .text(reason.shimWord)
            fields["code"] = reason.shimCode.map { .text($0.name) }
            fields["text"] = .text("\(reason)")
            let lost = reason.undelivered.messages
            if lost > 0 { fields["undelivered"] = .integer(lost) }
        }
        peers[peer.uid] = (peer, word)
        fields["state"] = .text(word)
        await context.pipe.tell("state", of: context.name, fields)
    }

    private func hear(_ message: Session.Message) async {
        let bytes = message.bytes
        await context.pipe.tell(
            "message", of: context.name,
            [
                "from": .hex(message.peer.uid.bytes), "size": .integer(bytes.count),
                "mode": .text(message.delivery == .reliable ? "reliable" : "unreliable"),
                "sha256": .hex(SHA256.hash(bytes)),
                "hex": bytes.count <= ShimSubject.shown ? .hex(bytes) : nil,
            ])
    }
}
