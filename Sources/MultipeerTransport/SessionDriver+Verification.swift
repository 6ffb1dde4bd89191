package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
package import MultipeerMesh
package import MultipeerSecurity

// MARK: the verification code

extension SessionDriver {
    /// The code of the link to a peer, once both ends have it: the other side does its part when its application asks.
    package func verificationCode(
        for uid: UID, within patience: Duration = VerificationCode.patience
    ) async throws(VerificationFault) -> String {
        guard !Task.isCancelled else { throw .cancelled }
        guard let wire = wires.values.first(where: { $0.seat?.peer.uid == uid }), let seat = wire.seat else {
            throw .notLinked
        }
        guard seat.isEncrypted else { throw .notEncrypted }
        do throws(SecurityFault) {
            try prepareVerification(wire, seat)
        } catch {
            throw .security(error)
        }
        if let code = seat.verification?.machine.code { return code }  // [sas.once]
        if let frame = seat.verification?.machine.ask() { seat.link.say(frame) }
        let waiter = Verification.Waiter(until: EventLoop.currentMoment() + patience)
        seat.verification?.waiting.append(waiter)
        dirty.insert(wire.id)
        loop.wantsTurnEnd(self)
        let outcome = await waiter.signal.value(onCancel: { waiter.signal.send(.failure(.cancelled)) })
        seat.verification?.forget(waiter)
        return try outcome.get()
    }

    /// A frame of the peer's run.
    func verify(_ frame: Frame, _ wire: Wire, _ seat: Seat) {
        guard wire.seat === seat else { return }
        guard seat.isEncrypted else {  // [sas.plain]
            return refuse(.protocolError, "a frame of the verification code on a plain link", wire)
        }
        do throws(SecurityFault) {
            try prepareVerification(wire, seat)
        } catch {
            return endLink(
                wire.id, EndReason(code: .internal, detail: "\(error)"), telling: .internal)
        }
        do throws(VerificationCode.Violation) {
            switch try seat.verification?.machine.receive(frame) {
            case .say(let answer): seat.link.say(answer)
            case .tellApplication: pending.append(.verificationRequested(seat.peer))  // [sas.asked]
            case .nothing, nil: break
            }
        } catch {
            return refuse(error.closeCode, error.description, wire)
        }
        if let code = seat.verification?.machine.code { seat.verification?.settle(.success(code)) }
    }

    private func refuse(_ code: CloseCode, _ detail: String, _ wire: Wire) {
        endLink(
            wire.id, EndReason(code: .protocolViolation, closeCode: code, detail: detail), telling: code)
    }

    /// The key and the nonce are made for the first who needs them: most links never do.
    private func prepareVerification(_ wire: Wire, _ seat: Seat) throws(SecurityFault) {
        guard seat.verification == nil else { return }
        guard
            var key = try wire.channel?.exportKey(label: "EXPORTER-mpc1-sas", context: [], count: 32)
        else { throw .internal("the connection is closed") }
        var nonce = randomness.bytes(32)
        seat.verification = Verification(
            VerificationCode(
                as: peer.uid < seat.peer.uid ? .controlling : .controlled,  // [sas.role]
                key: SecureBytes(erasing: &key), nonce: SecureBytes(erasing: &nonce)))
    }
}

/// The verification code of one link, and those who wait for it.
struct Verification: ~Copyable {
    struct Waiter: Sendable {
        let until: Moment
        let signal = Signal<Result<String, VerificationFault>>()
    }

    var machine: VerificationCode
    var waiting: [Waiter] = []

    init(_ machine: consuming VerificationCode) { self.machine = machine }

    var deadline: Moment? { waiting.map(\.until).min() }

    mutating func settle(_ outcome: Result<String, VerificationFault>) {
        for waiter in waiting { waiter.signal.send(outcome) }
        waiting = []
    }

    /// Whoever was cancelled waits no longer; the run goes on.
    mutating func forget(_ waiter: Waiter) { waiting.removeAll { $0.signal === waiter.signal } }

    /// Whoever waited long enough is told so; the run goes on, and its code is there for the next who asks.
    mutating func advance(to now: Moment) {  // [sas.wait]
        for waiter in waiting where waiter.until <= now { waiter.signal.send(.failure(.timedOut)) }
        waiting.removeAll { $0.until <= now }
    }
}

/// Why there is no verification code.
package enum VerificationFault: Error, Equatable, Sendable {
    case notLinked
    /// On a plain link there is nothing that a code could protect.
    case notEncrypted
    /// The other side has not done its part in time: mostly because its application has not asked.
    case timedOut
    case ended(EndReason)
    case cancelled
    case security(SecurityFault)
}
