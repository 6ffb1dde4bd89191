import Multipeer
import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerMesh
package import MultipeerTransport

// MARK: what the session brings, on its loop

extension PeerActorSystem: SessionGuest {
    package var mark: UInt32 { Envelope.mark }

    package func linkMade(to peer: PeerID) { meet(peer) }

    package func linkEnded(to peer: PeerID, _ reason: EndReason) {
        change { $0.linkEnded(to: peer.uid, reason) }
        deliveries.linkEnded(to: peer, reason)
        acquaintances.withLock { state in _ = state.removeValue(forKey: peer.uid) }
    }

    package func arrived(_ messages: [IncomingMessage], from peer: PeerID) {
        change { exchange in
            for message in messages {
                exchange.receive(message.storage.span.extracting(message.range), from: peer.uid)
            }
        }
    }

    package func takes(_ event: SessionEvent) -> Bool { deliveries.take(event) }
}

// MARK: what the exchange decides

extension PeerActorSystem {
    typealias CallExchange = Exchange<Signal<CallOutcome>, Task<Void, Never>>

    func meet(_ peer: PeerID) {
        acquaintances.withLock { $0[peer.uid] = peer }
        deliveries.linkMade(to: peer)
        change { $0.linkMade(to: peer.uid) }
    }

    /// A deadline has come.
    func advance() {
        let now = EventLoop.currentMoment()
        change { $0.advance(to: now) }
    }

    /// Changes the exchange, and carries out what it decides then.
    func change(_ body: (inout CallExchange) -> Void) {
        let (actions, moment) = exchange.withLock { exchange in
            body(&exchange)
            return (exchange.takeActions(), exchange.newAlarm())
        }
        if let moment { alarm.set(moment) }
        if actions.isEmpty { return }
        var begun: [Begun] = []
        for action in actions { carryOut(action, &begun) }
        if !begun.isEmpty { note(begun) }
    }

    /// A call of a peer that runs.
    struct Begun {
        let number: CallNumber
        let uid: UID
        let task: Task<Void, Never>
    }

    /// So that they can be cancelled: with one lock for all that came together.
    private func note(_ begun: [Begun]) {
        let stopped = exchange.withLock { exchange in
            begun.filter { !exchange.began($0.number, of: $0.uid, $0.task) }.map(\.task)
        }
        for task in stopped { task.cancel() }
    }

    private func carryOut(_ action: CallExchange.Action, _ begun: inout [Begun]) {
        switch action {
        case .send(let bytes, let uid, let number): post(bytes, to: uid, call: number)
        case .settle(let waiter, let outcome): waiter.send(outcome)
        case .execute(let call, let uid, let limit):
            if let task = begin(call, from: uid, limit) {
                begun.append(Begun(number: call.number, uid: uid, task: task))
            }
        case .stop(let work): work.cancel()
        case .arrived(let checkIn, let uid): acquaintance(uid).map { visitors.arrived(checkIn, $0) }
        case .left(let checkIn, let uid): acquaintance(uid).map { visitors.left(checkIn, $0) }
        }
    }

    /// Sends without waiting: the exchange keeps to what the peer takes, far less than may wait here.
    func post(_ bytes: [UInt8], to uid: UID, call number: CallNumber?) {
        if uid == peer.uid { return change { $0.receive(bytes.span, from: uid) } }
        do throws(SendFault) {
            try session.driver.post(bytes, to: uid)
        } catch {
            // What is no call is about one that is over with the link.
            guard let number else { return }
            let fault = CallFault(error)
            change { $0.notSent(number, fault) }
        }
    }

    /// Calls that go on: this side's, and those of peers here.
    package var underway: (own: Int, others: Int) {
        exchange.withLock { ($0.ownCalls, $0.callsOfOthers) }
    }

    func acquaintance(_ uid: UID) -> PeerID? { acquaintances.withLock { $0[uid] } }
}

extension CallFault {
    fileprivate init(_ fault: SendFault) {
        self =
            switch fault {
            case .notLinked: .notLinked
            case .tooLong(let count, let limit): .tooLarge(count, limit: limit)
            case .ended(let reason): .ended(reason)
            case .cancelled: .cancelled
            case .full: .busy
            }
    }
}
