import Foundation
import Multipeer
import MultipeerIntroduction
import MultipeerTransport

extension MCSessionState {
    init(_ state: PeerState) {
        switch state {
        case .notConnected: self = .notConnected
        case .connecting: self = .connecting
        case .connected: self = .connected
        }
    }
}

extension SessionCore {
    /// Takes what the native session tells and hands it on, one after the other. It keeps nothing alive while it waits,
    /// and asks for more when the delegate has returned: a delegate that takes its time holds back those who send.
    func pump() {
        let events = native.events
        Task(executorPreference: native.executor) { [weak self] in
            for await event in events {
                guard let self else { return }
                await deliver(event)
            }
        }
    }

    private func deliver(_ event: SessionEvent) async {
        switch event {
        case .stream(let stream): await received(stream)
        case .resource(let resource): await received(resource)
        case .verificationRequested: break
        case .peer(let peer, let state):
            let state = MCSessionState(state)
            await callbacks.run { [self] in
                guard let peer = roster.withLock({ $0.change(peer, state) }) else { return }
                withDelegate { $1.session($0, peer: peer, didChange: state) }
            }
        case .message(let message):
            await callbacks.run { [self] in
                let peer = object(message.peer)
                withDelegate { $1.session($0, didReceive: Data(message.bytes), fromPeer: peer) }
            }
        }
    }
}
