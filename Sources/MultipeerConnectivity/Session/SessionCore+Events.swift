import Foundation
import Multipeer
import MultipeerCore
import MultipeerTransport

// The native session's events, passed on one after the other on the callback queue, which takes them by itself: a thread of the
// session would be one more to be woken for each message, and again for each return of the delegate. Nothing is kept alive while
// there are none, and the next are taken when the delegate has returned: a slow delegate holds back the senders.
extension SessionCore {
    /// Has the next events delivered on the callback queue, if there are any; otherwise as soon as there are.
    func deliverNext() {
        if let run = nextRun() { callbacks.async { [self] in deliver(run, from: Place()) } }
    }

    /// Called on the session's thread, where nothing may wait.
    private func hasEvents() {
        callbacks.async { [self] in
            if let run = nextRun() { deliver(run, from: Place()) }
        }
    }

    /// Returns nil if there is none: then `hasEvents` will be called.
    private func nextRun() -> Session.EventReader.Run? {
        // Events end with each `disconnect`, and this session goes on; for a reader that is new they have ended for good.
        for isNew in [false, true] {
            switch currentReader(isNew).next() {
            case .batch(let run): return run
            case .nothing: return nil
            case .end: continue
            }
        }
        return nil
    }

    private func currentReader(_ isNew: Bool) -> Session.EventReader {
        reader.withLock { reader in
            if let reader, !isNew { return reader }
            let made = Session.EventReader(native.driver.eventQueue) { [weak self] in
                self?.hasEvents()
            }
            reader = made
            return made
        }
    }

    /// Delivers a run, and has the next one delivered after it.
    private func deliver(_ run: Session.EventReader.Run, from start: Place) {
        let (place, ends) = hand(run, from: start)
        if ends.isEmpty { return deliverNext() }
        Task(executorPreference: native.executor) { [self] in
            for end in ends { await end.value() }
            callbacks.async { [self] in deliver(run, from: place) }
        }
    }

    /// The position in a run up to which it was passed on.
    private struct Place: Sendable {
        var events = 0
        var markers = 0
    }

    /// Reports as much as possible, and returns the position, and what has to end before the next event is reported: files.
    private func hand(_ run: Session.EventReader.Run, from start: Place) -> (Place, [Promise<Void>]) {
        var place = start
        var messages = MessageRun(self)
        while true {
            while place.markers < run.markers.count, run.markers[place.markers].index <= place.events {
                reached(run.markers[place.markers].marker)
                place.markers += 1
            }
            guard place.events < run.elements.count else { return (place, []) }
            let event = run.elements[place.events]
            if case .message(let message) = event {
                place.events += 1
                messages.deliver(message)
                continue
            }
            // For the owner, events of a session that is disconnecting belong to the past.
            let isPast = reportedPeers.read { $0.isLeaving }
            if !isPast, case .peer(let peer, .notConnected) = event,
                let ends = receptions.withLock({ $0[peer] })
            {
                return (place, ends)
            }
            place.events += 1
            if isPast { continue }
            switch event {
            case .peer(let peer, let state): changed(peer, MCSessionState(state))
            case .stream(let stream): received(stream)
            case .resource(let resource): received(resource)
            // Messages were delivered above; the others are for users of the native API, which handles them itself.
            case .message, .verificationRequested, .verified: break
            }
        }
    }

    private func reached(_ marker: EventMarker) {
        switch marker {
        case .attemptFailed(let peer):
            // It may be linked by now, or connecting for another reason.
            if stateOf(peer) == .notConnected { tell(MCPeerID(peer), .notConnected) }
        case .left: for peer in reportedPeers.change({ $0.hasLeft() }) { tell(peer, .notConnected) }
        case .reached(let signal): signal.send(())
        }
    }

    private func changed(_ peer: PeerID, _ state: MCSessionState) {
        guard let peer = reportedPeers.change({ $0.change(peer, to: state) }) else { return }
        tell(peer, state)
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
