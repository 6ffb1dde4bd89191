import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

// MARK: streams and files of this side's

extension AttachmentTransfers {
    /// Those of a call that was sent. Each waits for its turn, until all are given up.
    func send(_ attachments: Attachments, to peer: PeerID) {
        for (token, attachment, permits) in takeAll(attachments, to: peer) {
            let turn: TransferPermits.Turn?
            do throws(ActorCallError) {
                turn = try permits.request()
            } catch {
                attachment.fail(error)
                continue
            }
            // What is local to the task that happens to be here, and its priority, are not the sending's.
            attachments.isSent(
                by: Task.followingDetached {
                    do throws(ActorCallError) {
                        if let turn { try await permits.wait(for: turn) }
                    } catch {
                        return attachment.fail(error)
                    }
                    await self.send(attachment, token, permits)
                })
        }
    }

    /// Those of an answer that was sent. Comes back when all are under way; `waits` is told how much waits meanwhile, and
    /// less than nothing when it does not any more. Those that have not begun when the task is cancelled are given up.
    func send(_ attachments: Attachments, to peer: PeerID, waits: (Int) -> Void) async {
        var failure = Task.isCancelled ? TransferPermits.givenUp : nil
        for (token, attachment, permits) in takeAll(attachments, to: peer) {
            if failure == nil {
                do throws(ActorCallError) {
                    if let turn = try permits.request() {
                        waits(attachment.weight)
                        defer { waits(-attachment.weight) }
                        try await permits.wait(for: turn)
                    }
                } catch {
                    failure = error
                }
            }
            // None of the others can be sent then, either.
            if let failure { attachment.fail(failure) } else { begin(attachment, token, permits) }
        }
    }

    private func begin(_ attachment: Attachments.Attachment, _ token: String, _ permits: TransferPermits) {
        Task.followingDetached { await self.send(attachment, token, permits) }
    }

    /// With the permits of the link that there is now. What goes to this process itself is there at once.
    private func takeAll(
        _ attachments: Attachments, to peer: PeerID
    ) -> [(token: String, attachment: Attachments.Attachment, permits: TransferPermits)] {
        let all = attachments.takeAll()
        if all.isEmpty { return [] }
        if peer == session.peer {
            for (token, attachment) in all { arrive(token, attachment) }
            return []
        }
        guard let permits = permits(to: peer) else {
            let error = ActorCallError(.ended, "the link to \(peer) has ended")
            for (_, attachment) in all { attachment.fail(error) }
            return []
        }
        return all.map { ($0.token, $0.attachment, permits) }
    }

    /// From this process to itself.
    private func arrive(_ token: String, _ attachment: Attachments.Attachment) {
        let key = Key(peer: session.peer, token: token)
        switch attachment {
        case .stream(let reader): arrived(.pipe(reader), key)
        case .file(let url): arrived(.place(url), key)
        }
    }

    /// With a permit, which it releases in the end.
    private func send(_ attachment: Attachments.Attachment, _ token: String, _ permits: TransferPermits) async
    {
        switch attachment {
        case .stream(let reader): await pump(reader, AttachmentToken.prefix + token, permits)
        case .file(let url): await send(url, AttachmentToken.prefix + token, permits)
        }
        permits.release()
    }

    private func pump(_ reader: BytePipeReader, _ name: String, _ permits: TransferPermits) async {
        do {
            let stream = try await open(name, permits)
            do {
                // Ends with this scope, before anything is given up here.
                async let _ = watch(stream, reader)
                while let piece = try await reader.next() { try await stream.write(piece) }
                try await stream.finish()
            } catch {
                stream.abort()
                throw error
            }
        } catch {
            reader.fail(Task.isCancelled ? TransferPermits.givenUp : error)
        }
    }

    /// Over no other link than the one of the permits: over a later one, nobody expects the stream.
    private func open(_ name: String, _ permits: TransferPermits) async throws -> OutgoingStream {
        if let closure = permits.closure { throw closure }
        let stream: OutgoingStream
        do throws(MultipeerError) {
            stream = try await session.openStream(to: permits.peer, name: name)
        } catch {
            if let closure = permits.closure { throw closure }
            throw error
        }
        if let closure = permits.closure {
            stream.abort()
            throw closure
        }
        return stream
    }

    /// The peer may let go of a stream whose writer is idle: then the permit is free, and the writer hears when it goes on.
    private func watch(_ stream: OutgoingStream, _ reader: BytePipeReader) async {
        guard let error = await stream.failure(), !Task.isCancelled else { return }
        reader.fail(error)
    }

    /// A file that cannot be sent is told of by an empty stream in its place: nobody waits in vain.
    private func send(_ file: URL, _ name: String, _ permits: TransferPermits) async {
        // Without that link there is nobody who waits.
        if permits.closure != nil { return }
        let sending: OutgoingResource
        do throws(MultipeerError) {
            sending = try await session.send(file: file, to: permits.peer, name: name)
        } catch {
            guard let stream = try? await open(name, permits) else { return }
            // Its end, which arrives for certain: one that is given up at once may never be heard of. Whoever has heard
            // gives it up in turn.
            try? await stream.finish()
            return
        }
        if permits.closure != nil { return sending.cancel() }
        await withTaskCancellationHandler {
            // From here on the peer hears itself how it ends.
            try? await sending.completion()
        } onCancel: {
            sending.cancel()
        }
    }
}
