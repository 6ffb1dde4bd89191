import Foundation
import Multipeer
import MultipeerTransport

/// Streams and files of calls: sends those of this side's, and brings together what peers send and who was told to expect
/// it. Either can come first.
final class Deliveries: Sendable {
    struct Key: Hashable, Sendable {
        let peer: PeerID
        let token: String
    }

    enum Arrival: Sendable {
        case stream(IncomingStream)
        case file(IncomingResource)
        /// This process has sent it to itself.
        case pipe(Pipe)
        case place(URL)
        case failed(any Error)
    }

    private struct State {
        var linked: Set<PeerID> = []
        var expected: [Key: Signal<Arrival>] = [:]
        var arrived: [Key: (arrival: Arrival, expiry: Task<Void, Never>)] = [:]
    }

    /// How long something is kept that no call has named.
    static let patience = Duration.seconds(30)

    private let session: Session
    private let state = Locked(State())

    init(_ session: Session) { self.session = session }

    // MARK: sending

    func send(_ enclosures: Enclosures, to peer: PeerID) {
        for (token, enclosure) in enclosures.takeAll() {
            if peer == session.peer {
                let key = Key(peer: peer, token: token)
                switch enclosure {
                case .stream(let pipe): arrived(.pipe(pipe), key)
                case .file(let url): arrived(.place(url), key)
                }
                continue
            }
            Task { [session] in
                switch enclosure {
                case .stream(let pipe): await Deliveries.pump(pipe, token, to: peer, session)
                case .file(let url): await Deliveries.send(url, token, to: peer, session)
                }
            }
        }
    }

    private static func pump(_ pipe: Pipe, _ token: String, to peer: PeerID, _ session: Session) async {
        do {
            let stream = try await session.openStream(to: peer, name: Token.prefix + token)
            do {
                while let piece = try await pipe.next() { try await stream.write(piece) }
                try await stream.finish()
            } catch {
                stream.abort()
                throw error
            }
        } catch {
            pipe.fail(error)
        }
    }

    /// A file that cannot be sent is told of by an empty stream in its place: nobody waits in vain.
    private static func send(_ file: URL, _ token: String, to peer: PeerID, _ session: Session) async {
        let name = Token.prefix + token
        do throws(MultipeerError) {
            _ = try await session.send(file: file, to: peer, name: name)
        } catch {
            // Without a link there is nobody who waits.
            guard let stream = try? await session.openStream(to: peer, name: name) else { return }
            // Its end, which arrives for certain: one that is given up at once may never be heard of. Whoever has heard
            // gives it up in turn.
            try? await stream.finish()
        }
    }

    // MARK: receiving

    /// On the session's loop: whether it is one of a call.
    func take(_ event: SessionEvent) -> Bool {
        switch event {
        case .stream(let stream):
            guard stream.name.hasPrefix(Token.prefix) else { return false }
            arrived(.stream(stream), key(stream.peer, stream.name))
        case .resource(let file):
            guard file.name.hasPrefix(Token.prefix) else { return false }
            arrived(.file(file), key(file.peer, file.name))
        case .message, .peer, .verificationRequested: return false
        }
        return true
    }

    private func key(_ peer: PeerID, _ name: String) -> Key {
        Key(peer: peer, token: String(name.dropFirst(Token.prefix.count)))
    }

    private func arrived(_ arrival: Arrival, _ key: Key) {
        // What cannot be expected is let go of, and so declined.
        guard Token.isToken(key.token) else { return }
        let waiter = state.withLock { state -> Signal<Arrival>? in
            if let waiter = state.expected.removeValue(forKey: key) { return waiter }
            if state.arrived[key] != nil { return nil }
            let expiry = Task { [weak self] in
                guard (try? await Task.sleep(for: Deliveries.patience)) != nil else { return }
                self?.expire(key)
            }
            state.arrived[key] = (arrival, expiry)
            return nil
        }
        waiter?.send(arrival)
    }

    private func expire(_ key: Key) {
        let expired = state.withLock { $0.arrived.removeValue(forKey: key) }
        if case .pipe(let pipe)? = expired?.arrival {
            pipe.fail(ActorCallError(.noSuchActor, "nobody has taken the stream"))
        }
    }

    /// Somebody was told to expect it, and waits for the signal.
    func expect(_ key: Key) -> Signal<Arrival> {
        let signal = Signal<Arrival>()
        typealias Arrived = (arrival: Arrival, expiry: Task<Void, Never>)
        let (arrived, willCome) = state.withLock { state -> (Arrived?, Bool) in
            if let arrived = state.arrived.removeValue(forKey: key) { return (arrived, true) }
            // What came before the link's end is decoded behind it, perhaps; and nothing comes twice.
            guard state.linked.contains(key.peer), state.expected[key] == nil else { return (nil, false) }
            state.expected[key] = signal
            return (nil, true)
        }
        if let arrived {
            arrived.expiry.cancel()
            signal.send(arrived.arrival)
        } else if !willCome {
            signal.send(.failed(ActorCallError(.notConnected, "\(key.peer) will not send it any more")))
        }
        return signal
    }

    /// Nobody expects it any more.
    func forget(_ key: Key, _ signal: Signal<Arrival>) {
        state.withLock { if $0.expected[key] === signal { $0.expected[key] = nil } }
    }

    func linkMade(to peer: PeerID) { state.withLock { _ = $0.linked.insert(peer) } }

    func linkEnded(to peer: PeerID, _ reason: EndReason) {
        let (waiters, unclaimed) = state.withLock { state in
            state.linked.remove(peer)
            let keys = state.expected.keys.filter { $0.peer == peer }
            let others = state.arrived.keys.filter { $0.peer == peer }
            return (
                keys.compactMap { state.expected.removeValue(forKey: $0) },
                others.compactMap { state.arrived.removeValue(forKey: $0) }
            )
        }
        for entry in unclaimed { entry.expiry.cancel() }
        let error = ActorCallError(
            .ended, "the link to \(peer) ended before it came: \(reason)", reason: reason)
        for waiter in waiters { waiter.send(.failed(error)) }
    }
}

/// One delivery that was announced: whoever decoded it may wait for it, once. Nobody expects it when this is let go of.
final class Claim: Sendable {
    private let deliveries: Deliveries
    private let key: Deliveries.Key
    private let signal: Signal<Deliveries.Arrival>
    private let isTaken = Locked(false)

    init(_ deliveries: Deliveries, _ key: Deliveries.Key) {
        self.deliveries = deliveries
        self.key = key
        signal = deliveries.expect(key)
    }

    deinit { deliveries.forget(key, signal) }

    /// Waits for it. When the task is cancelled first, it is given up.
    func arrival() async throws -> Deliveries.Arrival {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFirst else { throw ActorCallError(.invalidArgument, "the stream or file was taken before") }
        let arrival = await signal.value(onCancel: { signal.send(.failed(CancellationError())) })
        if case .failed(let error) = arrival { throw error }
        return arrival
    }
}
