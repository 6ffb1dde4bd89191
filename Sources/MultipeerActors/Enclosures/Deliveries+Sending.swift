import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

// MARK: streams and files of this side's

extension Deliveries {
    /// Those of a call that was sent. Each waits for its turn, until all are given up.
    func send(_ enclosures: Enclosures, to peer: PeerID) {
        for (token, enclosure, berths) in takeAll(enclosures, to: peer) {
            let turn: Berths.Turn?
            switch berths.ask() {
            case .taken: turn = nil
            case .waits(let signal): turn = signal
            case .refused(let error):
                enclosure.fail(error)
                continue
            }
            // What is local to the task that happens to be here, and its priority, are not the sending's.
            enclosures.isSent(
                by: Task.detached {
                    if let turn, let error = await berths.wait(for: turn) { return enclosure.fail(error) }
                    await self.send(enclosure, token, berths)
                })
        }
    }

    /// Those of an answer that was sent. Comes back when all are under way; `waits` is told how much waits meanwhile, and
    /// less than nothing when it does not any more. Those that have not begun when the task is cancelled are given up.
    func send(_ enclosures: Enclosures, to peer: PeerID, waits: (Int) -> Void) async {
        var failure = Task.isCancelled ? Berths.givenUp : nil
        for (token, enclosure, berths) in takeAll(enclosures, to: peer) {
            if failure == nil {
                switch berths.ask() {
                case .taken: break
                case .waits(let turn):
                    waits(enclosure.weight)
                    failure = await berths.wait(for: turn)
                    waits(-enclosure.weight)
                case .refused(let error): failure = error
                }
            }
            // None of the others can be sent then, either.
            if let failure { enclosure.fail(failure) } else { begin(enclosure, token, berths) }
        }
    }

    private func begin(_ enclosure: Enclosures.Enclosure, _ token: String, _ berths: Berths) {
        Task.detached { await self.send(enclosure, token, berths) }
    }

    /// With the berths of the link that there is now. What goes to this process itself is there at once.
    private func takeAll(
        _ enclosures: Enclosures, to peer: PeerID
    ) -> [(token: String, enclosure: Enclosures.Enclosure, berths: Berths)] {
        let all = enclosures.takeAll()
        if all.isEmpty { return [] }
        if peer == session.peer {
            for (token, enclosure) in all { arrive(token, enclosure) }
            return []
        }
        guard let berths = berths(to: peer) else {
            let error = ActorCallError(.ended, "the link to \(peer) has ended")
            for (_, enclosure) in all { enclosure.fail(error) }
            return []
        }
        return all.map { ($0.token, $0.enclosure, berths) }
    }

    /// From this process to itself.
    private func arrive(_ token: String, _ enclosure: Enclosures.Enclosure) {
        let key = Key(peer: session.peer, token: token)
        switch enclosure {
        case .stream(let reader): arrived(.pipe(reader), key)
        case .file(let url): arrived(.place(url), key)
        }
    }

    /// With a berth, which is free behind it.
    private func send(_ enclosure: Enclosures.Enclosure, _ token: String, _ berths: Berths) async {
        switch enclosure {
        case .stream(let reader): await pump(reader, Token.prefix + token, berths)
        case .file(let url): await send(url, Token.prefix + token, berths)
        }
        berths.giveBack()
    }

    private func pump(_ reader: PipeReader, _ name: String, _ berths: Berths) async {
        do {
            let stream = try await open(name, berths)
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
            reader.fail(Task.isCancelled ? Berths.givenUp : error)
        }
    }

    /// Over no other link than the one of the berths: over a later one, nobody expects the stream.
    private func open(_ name: String, _ berths: Berths) async throws -> OutgoingStream {
        if let closure = berths.closure { throw closure }
        let stream: OutgoingStream
        do throws(MultipeerError) {
            stream = try await session.openStream(to: berths.peer, name: name)
        } catch {
            if let closure = berths.closure { throw closure }
            throw error
        }
        if let closure = berths.closure {
            stream.abort()
            throw closure
        }
        return stream
    }

    /// The peer may let go of a stream whose writer is idle: then the berth is free, and the writer hears when it goes on.
    private func watch(_ stream: OutgoingStream, _ reader: PipeReader) async {
        guard let error = await stream.failure(), !Task.isCancelled else { return }
        reader.fail(error)
    }

    /// A file that cannot be sent is told of by an empty stream in its place: nobody waits in vain.
    private func send(_ file: URL, _ name: String, _ berths: Berths) async {
        // Without that link there is nobody who waits.
        if berths.closure != nil { return }
        let sending: OutgoingResource
        do throws(MultipeerError) {
            sending = try await session.send(file: file, to: berths.peer, name: name)
        } catch {
            guard let stream = try? await open(name, berths) else { return }
            // Its end, which arrives for certain: one that is given up at once may never be heard of. Whoever has heard
            // gives it up in turn.
            try? await stream.finish()
            return
        }
        if berths.closure != nil { return sending.cancel() }
        await withTaskCancellationHandler {
            // From here on the peer hears itself how it ends.
            try? await sending.completion()
        } onCancel: {
            sending.cancel()
        }
    }
}
