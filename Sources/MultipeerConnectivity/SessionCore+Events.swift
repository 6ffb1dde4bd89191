import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

extension SessionCore {
    /// Takes what the native session tells and hands it on, one after the other. It keeps nothing alive while it waits,
    /// and asks for more when the delegate has returned: a delegate that takes its time holds back those who send.
    func pump() {
        let events = native.events
        Task(executorPreference: native.executor) { [weak self] in
            // They end with each `disconnect`, and this session goes on.
            while self != nil {
                for await batch in events.batches {
                    guard let self else { return }
                    await deliver(batch)
                }
            }
        }
    }

    private func deliver(_ batch: [SessionEvent]) async {
        var rest = batch[...]
        while !rest.isEmpty {
            let (count, pause) = await callbacks.run { [self, rest] in hand(rest) }
            rest = rest.dropFirst(count)
            switch pause {
            case nil: continue
            case .held(let signal): await signal.value()
            case .stream(let stream): await received(stream)
            case .resource(let resource): await received(resource)
            }
            if case .held = pause { continue }
            counted()
        }
    }

    private enum Pause: Sendable {
        case held(Promise<Void>)
        case stream(IncomingStream)
        case resource(IncomingResource)
    }

    /// Tells as much as can be told at once, and answers how much that was and what is next; on the callback queue.
    private func hand(_ events: ArraySlice<SessionEvent>) -> (Int, Pause?) {
        for (index, event) in events.enumerated() {
            switch roster.withLock({ $0.admission() }) {
            case .held(let signal): return (index, .held(signal))
            case .stale: break
            case .now:
                switch event {
                case .peer(let peer, let state): changed(peer, MCSessionState(state))
                case .message(let message): received(message)
                case .stream(let stream): return (index + 1, .stream(stream))
                case .resource(let resource): return (index + 1, .resource(resource))
                // For who goes over to the native API, which asks by itself.
                case .verificationRequested: break
                }
            }
            counted()
        }
        return (events.count, nil)
    }

    private func counted() {
        for signal in roster.withLock({ $0.count() }) { signal.send(()) }
    }

    private func changed(_ peer: PeerID, _ state: MCSessionState) {
        guard let peer = roster.withLock({ $0.change(peer, to: state) }) else { return }
        tell(peer, state)
    }

    private func received(_ message: Message) {
        guard let peer = roster.withLock({ $0.connected(message.peer) }) else { return }
        let data = message.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
        }
        withDelegate { $1.session($0, didReceive: data, fromPeer: peer) }
    }
}

extension MCSessionState {
    init(_ state: PeerState) {
        switch state {
        case .notConnected: self = .notConnected
        case .connecting: self = .connecting
        case .connected: self = .connected
        }
    }
}
