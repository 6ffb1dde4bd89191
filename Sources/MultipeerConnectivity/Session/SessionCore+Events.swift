import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

extension SessionCore {
    /// Takes the native session's events and passes them on, one after the other. It keeps nothing alive while it waits, and
    /// continues when the delegate has returned: a slow delegate holds back the senders.
    func pump() {
        let eventQueue = native.driver.eventQueue
        Task(executorPreference: native.executor) { [weak self] in
            // They end with each `disconnect`, and this session goes on.
            while self != nil {
                var events = eventQueue.makeAsyncIterator()
                while let run = await events.nextRun() {
                    guard let self else { return }
                    await deliver(run)
                }
            }
        }
    }

    private func deliver(_ run: EventQueue<Session.Event>.Batch) async {
        var place = Place()
        while true {
            let (next, pause) = await callbacks.run { [self, place] in hand(run, from: place) }
            place = next
            switch pause {
            case nil: return
            case .stream(let stream): await received(stream)
            case .resource(let resource): await received(resource)
            case .receptions(let ends): for end in ends { await end.value() }
            }
        }
    }

    /// The position in a run up to which it was passed on.
    private struct Place: Sendable {
        var events = 0
        var markers = 0
    }

    private enum Pause: Sendable {
        case stream(IncomingStream)
        case resource(IncomingResource)
        /// Files end before the next event is reported.
        case receptions([Promise<Void>])
    }

    /// Reports as much as possible at once, and returns the position and what is next; on the callback queue.
    private func hand(_ run: EventQueue<Session.Event>.Batch, from start: Place) -> (Place, Pause?) {
        var place = start
        while true {
            while place.markers < run.markers.count, run.markers[place.markers].index <= place.events {
                reached(run.markers[place.markers].marker)
                place.markers += 1
            }
            guard place.events < run.elements.count else { return (place, nil) }
            let event = run.elements[place.events]
            // For the owner, events of a session that is disconnecting belong to the past.
            let isPast = reportedPeers.withLock { $0.isLeaving }
            if !isPast, case .peer(let peer, .notConnected) = event,
                let ends = receptions.withLock({ $0[peer] })
            {
                return (place, .receptions(ends))
            }
            place.events += 1
            if isPast { continue }
            switch event {
            case .peer(let peer, let state): changed(peer, MCSessionState(state))
            case .message(let message): received(message)
            case .stream(let stream): return (place, .stream(stream))
            case .resource(let resource): return (place, .resource(resource))
            // For users of the native API, which handles it itself.
            case .verificationRequested, .verified: break
            }
        }
    }

    private func reached(_ marker: EventMarker) {
        switch marker {
        case .attemptFailed(let peer):
            // It may be linked by now, or connecting for another reason.
            if stateOf(peer) == .notConnected { tell(MCPeerID(peer), .notConnected) }
        case .left: for peer in reportedPeers.withLock({ $0.hasLeft() }) { tell(peer, .notConnected) }
        case .reached(let signal): signal.send(())
        }
    }

    private func changed(_ peer: PeerID, _ state: MCSessionState) {
        guard let peer = reportedPeers.withLock({ $0.change(peer, to: state) }) else { return }
        tell(peer, state)
    }

    private func received(_ message: Session.Message) {
        guard let peer = reportedPeers.withLock({ $0.connected(message.peer) }) else { return }
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
