import Foundation
import Multipeer
import MultipeerCore
import MultipeerIntroduction
import MultipeerTransport

// What the session's owner calls, on any thread. A task that prefers the session's executor is in the queue of its loop
// before the call returns, and each of these goes to the session's actor with its first step: so what was called first
// begins first, `disconnect` before the connecting after it.
extension SessionCore {
    func send(_ message: [UInt8], to peers: [PeerID], _ mode: MCSessionSendDataMode) throws {
        guard !peers.isEmpty else {
            throw MCError(.invalidParameter, "a message goes to one peer at the least")
        }
        // The native session may know of a peer that the delegate has not heard of, or of one that was left just now.
        for peer in peers where stateOf(peer) != .connected {
            throw MCError(.notConnected, "\(peer) is not connected")
        }
        do {
            try native.post(message, to: peers, delivery: Delivery(mode))
        } catch {
            throw MCError(error)
        }
    }

    /// For the caller everybody is gone at once. The delegate hears so when the goodbyes are out, before anything of the
    /// time behind: a program that ends when it hears that leaves nothing unsaid.
    func disconnect() {
        reportedPeers.withLock { $0.leave() }
        Task(executorPreference: native.executor) { [self] in
            // Not by way of the native session, which is one more turn in the queue: an invitation behind this would be first.
            await native.driver.disconnect(within: .seconds(1), isMarked: true)
        }
    }

    /// The `MCSession` is gone: says goodbye, and ends with the native session after that.
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

    /// A task even for who could wait by itself: without one it would get ahead of what was called before.
    func connectionData(for peer: PeerID) -> Task<Result<Data, MCError>, Never> {
        Task(executorPreference: native.executor) { [native] in
            guard peer != native.peer else {
                return .failure(
                    MCError(.invalidParameter, "connection data is for others, and \(peer) is this one"))
            }
            do throws(MultipeerError) {
                return .success(Data(try await native.connectionData(for: peer).bytes))
            } catch {
                return .failure(MCError(error))
            }
        }
    }

    func connect(_ peer: PeerID, with data: Data) {
        guard let data = try? ConnectionData([UInt8](data)), data.peer == peer, peer != native.peer else {
            return report(peer)
        }
        Task(executorPreference: native.executor) { [native] in
            // Apple's framework does not say which side's data has to be there first. The delegate hears that there is no
            // connection; the reason is the native API's.
            try? await native.driver.connect(with: data, issuing: true, isMarked: true)
        }
    }

    func cancelConnect(_ peer: PeerID) {
        Task(executorPreference: native.executor) { [self] in await native.cancelConnect(peer) }
    }
}

extension Delivery {
    init(_ mode: MCSessionSendDataMode) {
        switch mode {
        case .reliable: self = .reliable
        case .unreliable: self = .unreliable
        }
    }
}
