import Foundation
import Multipeer
import MultipeerIntroduction
import MultipeerTransport

// What the session's owner calls, on any thread. Tasks that prefer the session's executor are put into the queue of its
// loop at once, by the caller: so what was called first begins first, `disconnect` before the connecting behind it.
extension SessionCore {
    var connectedPeers: [MCPeerID] { roster.withLock { $0.connected } }

    func stateOf(_ peer: PeerID) -> MCSessionState { roster.withLock { $0.state(of: peer) } }

    func send(_ message: [UInt8], to peers: [PeerID], _ mode: MCSessionSendDataMode) throws {
        guard !peers.isEmpty else {
            throw MCError(.invalidParameter, "a message goes to one peer at the least")
        }
        for peer in peers where stateOf(peer) != .connected {
            throw MCError(.notConnected, "\(peer) is not connected")
        }
        let delivery: Delivery = mode == .reliable ? .reliable : .unreliable
        Task(executorPreference: native.executor) { [self] in
            for peer in peers { try? await native.send(message, to: peer, delivery: delivery) }
        }
    }

    func disconnect() {
        let gone = roster.withLock { $0.leave() }
        callbacks.async { [self] in
            for peer in gone { withDelegate { $1.session($0, peer: peer, didChange: .notConnected) } }
        }
        Task(executorPreference: native.executor) { [self] in
            await native.disconnect()
            roster.withLock { $0.hasLeft(before: 0) }?.send(())
        }
    }

    func connectionData(
        for peer: PeerID, _ handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        Task(executorPreference: native.executor) { [self] in
            let data = await connectionData(for: peer)
            callbacks.async {
                switch data {
                case .success(let data): handler(data, nil)
                case .failure(let error): handler(nil, error)
                }
            }
        }
    }

    func connectionData(for peer: PeerID) async -> Result<Data, MCError> {
        do throws(MultipeerError) {
            return .success(Data(try await native.connectionData(for: peer).bytes))
        } catch {
            return .failure(MCError(error))
        }
    }

    func connect(_ peer: PeerID, with data: Data) {
        let attempt = begin(peer)
        Task(executorPreference: native.executor) { [self] in
            do {
                try await native.connect(peer, with: ConnectionData([UInt8](data)))
                succeeded(attempt)
            } catch {
                await failed(attempt)
            }
        }
    }

    func cancelConnect(_ peer: PeerID) {
        Task(executorPreference: native.executor) { [self] in await native.cancelConnect(peer) }
    }
}
