import Foundation
import Multipeer
import MultipeerCore
import MultipeerHandshake
import MultipeerTransport

// Calls of the session's owner, on any thread. A task that prefers the session's executor is in the queue of its loop before the
// call returns, and each of these enters the session's actor with its first step: so calls begin in the order in which they were
// made, `disconnect` before a connect after it.
extension SessionCore {
    func send(_ data: Data, to peers: [MCPeerID], _ mode: MCSessionSendDataMode) throws {
        guard !peers.isEmpty else {
            throw MCError(.invalidParameter, "a message needs at least one peer")
        }
        // The native session may have a peer that was not yet reported to the delegate, or one that was just disconnected.
        if peers.count == 1 {
            let peer = peers[0]
            guard let uid = reportedPeers.read({ $0.uid(ofConnected: peer) }) else {
                throw MCError(.notConnected, "\(peer.id) is not connected")
            }
            let message = unsafe data.withUnsafeBytes { unsafe [UInt8]($0) }
            do throws(SendFault) {
                try native.driver.queues.post(message, to: uid, delivery: Session.Delivery(mode))
            } catch {
                throw MCError(MultipeerError(error, to: peer.id))
            }
            return
        }
        let missing = reportedPeers.read { reported in peers.first { reported.uid(ofConnected: $0) == nil } }
        if let missing { throw MCError(.notConnected, "\(missing.id) is not connected") }
        let message = unsafe data.withUnsafeBytes { unsafe [UInt8]($0) }
        do {
            try native.post(message, to: peers.map(\.id), delivery: Session.Delivery(mode))
        } catch {
            throw MCError(error)
        }
    }

    /// For the caller every peer is gone at once. The delegate is notified when the goodbyes are sent, before any later event: a
    /// program that exits when it is notified leaves nothing unsent.
    func disconnect() {
        reportedPeers.change { $0.leave() }
        Task(executorPreference: native.executor) { [self] in
            // Not through the native session, which takes one more turn in the queue: a later invitation would come first.
            await native.driver.disconnect(within: .seconds(1), isMarked: true)
        }
    }

    /// Disconnects, and ends with the native session after that: the `MCSession` is gone.
    func end() { disconnect() }

    func connectionData(
        for peer: PeerID, _ handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let data = connectionData(for: peer)
        Task(executorPreference: native.executor) { [self] in
            let data = await data.value
            callbacks.async {
                switch data {
                case .success(let data): handler(data, nil)
                case .failure(let error): handler(nil, error)
                }
            }
        }
    }

    /// A task even for a caller that could wait by itself: without one it would overtake earlier calls.
    func connectionData(for peer: PeerID) -> Task<Result<Data, MCError>, Never> {
        Task(executorPreference: native.executor) { [native, fault] in
            if let fault { return .failure(fault) }
            guard peer != native.peer else {
                return .failure(
                    MCError(.invalidParameter, "\(peer) is the local peer; data is for other peers"))
            }
            do throws(MultipeerError) {
                return .success(Data(try await native.connectionData(for: peer).bytes))
            } catch {
                return .failure(MCError(error))
            }
        }
    }

    func connect(_ peer: PeerID, with data: Data) {
        guard fault == nil, let data = try? ConnectionData([UInt8](data)), data.peer == peer,
            peer != native.peer
        else {
            return report(peer)
        }
        Task(executorPreference: native.executor) { [native] in
            // Apple's framework does not say which side's data has to come first. The delegate is notified that there is no
            // connection; the reason is the native API's.
            try? await native.driver.connect(with: data, issuing: true, isMarked: true)
        }
    }

    func cancelConnect(_ peer: PeerID) {
        Task(executorPreference: native.executor) { [self] in await native.cancelConnecting(to: peer) }
    }
}

extension Session.Delivery {
    init(_ mode: MCSessionSendDataMode) {
        switch mode {
        case .reliable: self = .reliable
        case .unreliable: self = .unreliable
        }
    }
}
