import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

// MARK: sending streams and files

extension AttachmentTransfers {
    /// Sends the attachments of a call that was sent. Each waits for its turn, until all are given up.
    func send(_ attachments: Attachments, to peer: PeerID) {
        for (token, attachment, permits) in takeAll(attachments, to: peer) {
            let turn: TransferPermits.Turn?
            do throws(ActorCallError) {
                turn = try permits.request()
            } catch {
                attachment.fail(error)
                continue
            }
            // Task-local values and the priority of the task that happens to run here do not apply to the transfer.
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

    /// Sends the attachments of an answer that was sent. Returns when all have begun; `waits` receives the bytes that
    /// wait in the meantime, and their negative when they no longer do. Attachments that have not begun when the task
    /// is cancelled are given up.
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
            // Then none of the others can be sent, either.
            if let failure { attachment.fail(failure) } else { begin(attachment, token, permits) }
        }
    }

    private func begin(_ attachment: Attachments.Attachment, _ token: String, _ permits: TransferPermits) {
        Task.followingDetached { await self.send(attachment, token, permits) }
    }

    /// Takes the attachments with the permits of the current link. Those for this process itself arrive at once.
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

    /// Delivers an attachment from this process to itself.
    private func arrive(_ token: String, _ attachment: Attachments.Attachment) {
        let key = Key(peer: session.peer, token: token)
        switch attachment {
        case .stream(let reader): arrived(.pipe(reader), key)
        case .file(let url): arrived(.place(url), key)
        }
    }

    /// Sends an attachment with a permit, which is released at the end.
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

    /// Opens a stream only over the link of the permits: over a later one, no call expects it.
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

    /// Fails the reader when the peer resets a stream whose writer is idle. This frees the permit, and the writer
    /// receives the error when it continues.
    private func watch(_ stream: OutgoingStream, _ reader: BytePipeReader) async {
        guard let error = await stream.failure(), !Task.isCancelled else { return }
        reader.fail(error)
    }

    /// Sends a file. One that cannot be sent is replaced by an empty stream, so that the peer does not wait for it.
    private func send(_ file: URL, _ name: String, _ permits: TransferPermits) async {
        // Without that link, no peer waits for it.
        if permits.closure != nil { return }
        let sending: OutgoingResource
        do throws(MultipeerError) {
            sending = try await session.send(file: file, to: permits.peer, name: name)
        } catch {
            guard let stream = try? await open(name, permits) else { return }
            // FIN is certain to arrive, unlike the reset of a stream that was just opened, which the peer may never
            // see. The peer resets the stream in return.
            try? await stream.finish()
            return
        }
        if permits.closure != nil { return sending.cancel() }
        await withTaskCancellationHandler {
            // From here on, the peer is notified of the end by the transfer itself.
            try? await sending.waitUntilReceived()
        } onCancel: {
            sending.cancel()
        }
    }
}
