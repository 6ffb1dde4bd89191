import Foundation
import Multipeer

// MARK: what a session tells

extension Shim {
    /// What is longer than this is told by its digest alone.
    private static let shown = 1_024
    /// Bytes of a stream after which it is told how many there are.
    private static let step = 65_536

    func listen(to subject: ShimSubject) {
        let events = subject.session.events
        subject.keep(
            Task {
                // They end with each `disconnect`, and the subject may be used again.
                while !Task.isCancelled {
                    for await event in events {
                        await subject.gate.passed()
                        await self.hear(event, of: subject)
                    }
                }
            })
    }

    private func hear(_ event: SessionEvent, of subject: ShimSubject) async {
        switch event {
        case .peer(let peer, let state): await hear(peer, state, of: subject)
        case .message(let message): await hear(message, of: subject)
        case .stream(let stream): await hear(stream, of: subject)
        case .resource(let resource): await hear(resource, of: subject)
        case .verificationRequested(let peer):
            await tell("code-requested", of: subject, ["peer": .hex(peer.uid.bytes)])
        }
    }

    private func hear(_ peer: PeerID, _ state: PeerState, of subject: ShimSubject) async {
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
        subject.things.withLock { $0.peers[peer.uid] = (peer, word) }
        fields["state"] = .text(word)
        await tell("state", of: subject, fields)
    }

    private func hear(_ message: Message, of subject: ShimSubject) async {
        let bytes = message.bytes
        await tell(
            "message", of: subject,
            [
                "from": .hex(message.peer.uid.bytes), "size": .integer(bytes.count),
                "mode": .text(message.delivery == .reliable ? "reliable" : "unreliable"),
                "sha256": .hex(SHA256.hash(bytes)), "hex": bytes.count <= Shim.shown ? .hex(bytes) : nil,
            ])
    }

    private func hear(_ stream: IncomingStream, of subject: ShimSubject) async {
        let (id, gate) = (number(), ShimGate())
        subject.things.withLock { things in
            if things.holdsStreams { gate.close() }
            things.incoming[id] = (stream, gate)
        }
        await tell(
            "stream", of: subject,
            [
                "from": .hex(stream.peer.uid.bytes), "stream": .integer(id), "name": .text(stream.name),
                "metadata": stream.metadata.map { .hex($0) },
            ])
        subject.keep(Task { await self.read(stream, id, behind: gate, of: subject) })
    }

    private func read(
        _ stream: IncomingStream, _ id: Int, behind gate: ShimGate, of subject: ShimSubject
    ) async {
        var hasher = SHA256.Hasher()
        var (count, told) = (0, 0)
        var fields: [String: ShimValue?] = [:]
        do throws(MultipeerError) {
            var pieces = stream.makeAsyncIterator()
            await gate.passed()
            while let piece = try await pieces.next() {
                hasher.update(piece)
                count += piece.count
                if told == 0 || count - told >= Shim.step {
                    told = count
                    await tell("stream-data", of: subject, ["stream": .integer(id), "size": .integer(count)])
                }
                await gate.passed()
            }
        } catch {
            fields = ShimReason(error).fields
        }
        subject.things.withLock { $0.incoming[id] = nil }
        fields["stream"] = .integer(id)
        fields["size"] = .integer(count)
        fields["sha256"] = .hex(hasher.finish())
        await tell("stream-end", of: subject, fields)
    }

    private func hear(_ resource: IncomingResource, of subject: ShimSubject) async {
        let id = number()
        subject.things.withLock { $0.offered[id] = resource }
        await tell(
            "resource-start", of: subject,
            [
                "from": .hex(resource.peer.uid.bytes), "resource": .integer(id), "name": .text(resource.name),
                "size": resource.size.map { .size($0) }, "metadata": resource.metadata.map { .hex($0) },
            ])
        switch subject.options.resources {
        case .take: store(resource, id, of: subject)
        case .hold: break
        case .refuse: resource.decline()
        }
    }
}
