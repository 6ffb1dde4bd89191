import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

/// Streams and files of calls: sends this side's, and matches those that peers send with the calls that expect them.
/// Either can come first.
final class AttachmentTransfers: Sendable {
    struct Key: Hashable, Sendable {
        let peer: PeerID
        let token: String
    }

    enum Arrival: Sendable {
        case stream(IncomingStream)
        case file(IncomingResource)
        /// Sent by this process to itself.
        case pipe(BytePipeReader)
        case place(URL)
        case failed(any Error)
    }

    private struct State {
        /// For every linked peer.
        var permits: [PeerID: TransferPermits] = [:]
        var expected: [Key: Promise<Arrival>] = [:]
        /// The last few of each peer that are no longer expected: they are declined as soon as they arrive.
        var unwanted: [PeerID: OrderedTable<String, Void>] = [:]
        var arrived: [Key: (arrival: Arrival, expiry: Task<Void, Never>)] = [:]
        /// How many of those each peer has.
        var unclaimed: [PeerID: Int] = [:]

        mutating func takeArrived(_ key: Key) -> (arrival: Arrival, expiry: Task<Void, Never>)? {
            guard let arrived = arrived.removeValue(forKey: key) else { return nil }
            unclaimed[key.peer, default: 1] -= 1
            if unclaimed[key.peer] == 0 { unclaimed[key.peer] = nil }
            return arrived
        }
    }

    /// How long an arrival that no call has named is kept, and how long the reader of an expected one waits.
    let timeLimit: Duration
    /// How many of a peer's unclaimed arrivals are kept.
    private let unclaimedAtMost: Int
    let session: Session
    private let state = Locked(State())
    private let limits: ActorLimits

    init(_ session: Session, _ limits: ActorLimits, timeLimit: Duration) {
        self.session = session
        self.timeLimit = timeLimit
        // An answer may be decoded here before the earlier calls have been removed from the list.
        unclaimedAtMost = 2 * limits.callsInAll
        self.limits = limits
    }

    // MARK: receiving

    /// Takes an event if it belongs to a call; on the session's loop.
    func take(_ event: Session.Event) -> Bool {
        switch event {
        case .stream(let stream):
            guard stream.name.begins(with: AttachmentToken.prefix) else { return false }
            arrived(.stream(stream), key(stream.peer, stream.name))
        case .resource(let file):
            guard file.name.begins(with: AttachmentToken.prefix) else { return false }
            arrived(.file(file), key(file.peer, file.name))
        case .message, .peer, .verificationRequested, .verified: return false
        }
        return true
    }

    private func key(_ peer: PeerID, _ name: String) -> Key {
        Key(peer: peer, token: String(name.dropFirst(AttachmentToken.prefix.count)))
    }

    func arrived(_ arrival: Arrival, _ key: Key) {
        // An arrival that cannot be expected is released, which declines it.
        guard AttachmentToken.isToken(key.token) else { return }
        let waiter = state.withLock { state -> Promise<Arrival>? in
            if let waiter = state.expected.removeValue(forKey: key) { return waiter }
            if state.unwanted[key.peer]?.remove(key.token) != nil { return nil }
            let unclaimed = state.unclaimed[key.peer] ?? 0
            // One too many, or a duplicate, is released as well.
            guard state.arrived[key] == nil, unclaimed < unclaimedAtMost else { return nil }
            state.unclaimed[key.peer] = unclaimed + 1
            let expiry = Task.followingDetached { [weak self, timeLimit] in
                guard (try? await Pause.sleep(for: timeLimit)) != nil else { return }
                self?.expire(key)
            }
            state.arrived[key] = (arrival, expiry)
            return nil
        }
        waiter?.send(arrival)
    }

    /// Releases an arrival that no call has named, which declines it.
    private func expire(_ key: Key) { _ = state.withLock { $0.takeArrived(key) } }

    /// Returns a promise of the arrival, for a call that has named it.
    func expect(_ key: Key) -> Promise<Arrival> {
        let signal = Promise<Arrival>()
        typealias Arrived = (arrival: Arrival, expiry: Task<Void, Never>)
        let (arrived, willCome) = state.withLock { state -> (Arrived?, Bool) in
            if let arrived = state.takeArrived(key) { return (arrived, true) }
            // Something that was sent before the link's end may be decoded after it; and nothing arrives twice.
            guard state.permits[key.peer] != nil, state.expected[key] == nil else { return (nil, false) }
            state.expected[key] = signal
            return (nil, true)
        }
        if let arrived {
            arrived.expiry.cancel()
            signal.send(arrived.arrival)
        } else if !willCome {
            signal.send(.failed(ActorCallError(.notConnected, "\(key.peer) is no longer connected")))
        }
        return signal
    }

    /// Removes the expectation; a later arrival is declined.
    func forget(_ key: Key, _ signal: Promise<Arrival>) {
        state.withLock { state in
            guard state.expected[key] === signal else { return }
            state.expected[key] = nil
            var unwanted = state.unwanted.removeValue(forKey: key.peer) ?? OrderedTable()
            unwanted.append(key.token, ())
            if unwanted.count > unclaimedAtMost { _ = unwanted.removeFirst() }
            state.unwanted[key.peer] = unwanted
        }
    }

    /// Returns the permits of the current link; nil without one.
    func permits(to peer: PeerID) -> TransferPermits? { state.withLock { $0.permits[peer] } }

    func linkMade(to peer: PeerID) {
        // As many as the calls in progress in both directions may have, and at least those of one call.
        let waitingAtMost = max(2 * limits.callsInAll, Envelope.Limit.arguments)
        let permits = TransferPermits(to: peer, limits.streams, waitingAtMost: waitingAtMost)
        let before = state.withLock { $0.permits.updateValue(permits, forKey: peer) }
        before?.close(ActorCallError(.ended, "another link to \(peer) replaced this one"))
    }

    func linkEnded(to peer: PeerID, _ reason: DisconnectReason) {
        let (permits, waiters, unclaimed) = state.withLock { state in
            state.unwanted[peer] = nil
            let keys = state.expected.keys.filter { $0.peer == peer }.sorted { $0.token < $1.token }
            let others = state.arrived.keys.filter { $0.peer == peer }.sorted { $0.token < $1.token }
            return (
                state.permits.removeValue(forKey: peer),
                keys.compactMap { state.expected.removeValue(forKey: $0) },
                others.compactMap { state.takeArrived($0) }
            )
        }
        permits?.close(
            ActorCallError(
                .ended, "the link to \(peer) ended before it was sent: \(reason)", reason: reason))
        for entry in unclaimed { entry.expiry.cancel() }
        let error = ActorCallError(
            .ended, "the link to \(peer) ended before it arrived: \(reason)", reason: reason)
        for waiter in waiters { waiter.send(.failed(error)) }
    }
}

/// One announced transfer, which can be awaited once. Releasing it removes the expectation.
final class ExpectedTransfer: Sendable {
    private let transfers: AttachmentTransfers
    private let key: AttachmentTransfers.Key
    private let signal: Promise<AttachmentTransfers.Arrival>
    private let isTaken = Locked(false)

    init(_ transfers: AttachmentTransfers, _ key: AttachmentTransfers.Key) {
        self.transfers = transfers
        self.key = key
        signal = transfers.expect(key)
    }

    deinit { transfers.forget(key, signal) }

    /// Waits for the transfer, with a timeout, since the peer may never open it. Cancelling the task gives it up.
    func arrival() async throws -> AttachmentTransfers.Arrival {
        guard isTaken.setFirst() else {
            throw ActorCallError(.invalidArgument, "the stream or file was already read")
        }
        let expiry = signal.isSent ? nil : expire()
        let arrival = await signal.value(onCancel: { signal.send(.failed(CancellationError())) })
        expiry?.cancel()
        if case .failed(let error) = arrival { throw error }
        return arrival
    }

    private func expire() -> Task<Void, Never> {
        Task.followingDetached { [transfers, key, signal] in
            guard (try? await Pause.sleep(for: transfers.timeLimit)) != nil else { return }
            // A later arrival is declined.
            transfers.forget(key, signal)
            let text = "\(key.peer) has not opened the stream or offered the file"
            signal.send(.failed(ActorCallError(.timedOut, text)))
        }
    }
}
