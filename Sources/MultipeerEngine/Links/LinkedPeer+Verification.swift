import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
package import MultipeerMesh
package import MultipeerSecurity

/// Why there is no verification code.
package enum VerificationFault: Error, Equatable, Sendable {
    /// There is no link to the peer.
    case notLinked
    /// The link is plain, so a code could protect nothing.
    case notEncrypted
    /// The other side did not complete the run in time, usually because its application has not asked.
    case timedOut
    /// The other application does not compare codes now.
    case declined
    /// There is no code to confirm.
    case noCode
    /// The code was confirmed, and the trust store could not be written.
    case notRemembered(String)
    case ended(DisconnectReason)
    case cancelled
    case security(SecurityFault)
}

/// The verification code of one link, and the requests that wait for it. Spec 13.
struct Verification: ~Copyable {
    struct Request {
        let number: UInt64
        let until: Moment
    }

    /// Nil until the key is derived.
    private var machine: VerificationCode?
    /// The owner was asked for the key.
    var isDeriving = false
    /// The frames received before the key, in order.
    private var early: [Frame] = []
    private(set) var requests: [Request] = []
    /// The calls that wait until both users have confirmed the code.
    private var confirmations: [UInt64] = []
    /// Whether a request waits for the key.
    private var hasAsked = false

    var deadline: Moment? { requests.lazy.map(\.until).min() }
    /// The twelve digits, once both ends have them.
    private(set) var code: String?
    /// Whether both users have confirmed the code.
    private(set) var isConfirmed = false
    private(set) var hasKey = false
    /// Whether frames of the code wait for the key: nothing after them may be processed before.
    var needsKey: Bool { !early.isEmpty }

    mutating func add(_ request: Request) { requests.append(request) }

    mutating func remove(_ number: UInt64) {
        requests.removeAll { $0.number == number }
        confirmations.removeAll { $0 == number }
    }

    /// Confirms the code for the local user. Returns the frame that says so, if it was not sent before.
    mutating func confirm(_ number: UInt64) throws(VerificationFault) -> Frame? {
        guard code != nil else { throw .noCode }
        confirmations.append(number)
        guard var machine = machine.take() else { return nil }
        let frame = machine.confirm()
        isConfirmed = machine.isConfirmed
        self.machine = consume machine
        return frame
    }

    /// Returns the frame that declines to compare, if the other application waits for an answer.
    mutating func decline() -> Frame? { machine?.decline() }

    mutating func takeConfirmations() -> [UInt64] {
        defer { confirmations = [] }
        return confirmations
    }

    mutating func takeRequests(until now: Moment = .distantFuture) -> [UInt64] {
        let taken = requests.filter { $0.until <= now }.map(\.number)
        if !taken.isEmpty { requests.removeAll { taken.contains($0.number) } }
        return taken
    }

    /// Returns the frame that asks the peer, if one is due now.
    mutating func ask() -> Frame? {
        guard hasKey else {
            hasAsked = true
            return nil
        }
        return machine?.ask()
    }

    mutating func keep(_ frame: Frame) { early.append(frame) }

    /// Takes the key. Returns the frame of the application's own request, and the frames that waited.
    mutating func begin(_ code: consuming VerificationCode) -> (ask: Frame?, early: [Frame]) {
        machine = consume code
        hasKey = true
        defer { early = [] }
        return (hasAsked ? machine?.ask() : nil, early)
    }

    mutating func receive(_ frame: Frame) throws(VerificationCode.Violation) -> VerificationCode.Answer {
        guard var machine = machine.take() else { return .nothing }
        let answer = try machine.receive(frame)
        code = machine.code
        isConfirmed = machine.isConfirmed
        self.machine = consume machine
        return answer
    }
}

extension LinkedPeer {
    func requestCode(
        _ request: Verification.Request, _ outputs: inout [SessionOutput]
    ) throws(VerificationFault) {
        guard isEncrypted else { throw .notEncrypted }  // [sas.plain]
        if let code = verification.code {  // [sas.once]
            return outputs.append(.verified([request.number], .success(code)))
        }
        verification.add(request)
        if let frame = verification.ask() { link.say(frame) }
        deriveKey(&outputs)
    }

    /// Requests the key and the nonce for the first request or frame: most links never need them.
    private func deriveKey(_ outputs: inout [SessionOutput]) {
        guard !verification.isDeriving else { return }
        verification.isDeriving = true
        outputs.append(.deriveVerificationKey(id))
    }

    /// Takes the key. Returns the frames that waited for it.
    func beginVerification(_ code: consuming VerificationCode) -> [Frame] {
        let waiting = verification.begin(code)
        if let frame = waiting.ask { link.say(frame) }
        return waiting.early
    }

    /// Handles a frame of the peer's run. Returns what it means for the application.
    func verify(
        _ frame: Frame, _ outputs: inout [SessionOutput]
    ) throws(VerificationCode.Violation) -> VerificationCode.Answer {
        guard isEncrypted else { throw .plainLink }  // [sas.plain]
        guard verification.hasKey else {
            verification.keep(frame)
            deriveKey(&outputs)
            return .nothing
        }
        let answer = try verification.receive(frame)
        if case .say(let frame) = answer { link.say(frame) }
        return answer
    }

    /// Confirms the code for the local user; `verified` reports when both have.
    func confirmCode(
        _ number: UInt64, _ outputs: inout [SessionOutput]
    ) throws(VerificationFault) {
        if let frame = try verification.confirm(number) {
            link.say(frame)
            if verification.isConfirmed { outputs.append(.codeConfirmed(id, peer)) }
        }
        completeConfirmations(&outputs)
    }

    /// Completes the calls that wait for the confirmation, once both users have confirmed.
    func completeConfirmations(_ outputs: inout [SessionOutput]) {
        guard verification.isConfirmed, let code = verification.code else { return }
        finishCodeRequests(verification.takeConfirmations(), .success(code), &outputs)
    }

    /// Completes waiting requests, once both ends have the code.
    func completeCodeRequests(_ outputs: inout [SessionOutput]) {
        guard let code = verification.code else { return }
        finishCodeRequests(verification.takeRequests(), .success(code), &outputs)
    }

    /// Fails requests that timed out; the run continues, and its code is available for the next request. [sas.wait]
    func expireCodeRequests(at now: Moment, _ outputs: inout [SessionOutput]) {
        guard let deadline = verification.deadline, deadline <= now else { return }
        finishCodeRequests(verification.takeRequests(until: now), .failure(.timedOut), &outputs)
    }

    func failCodeRequests(_ fault: VerificationFault, _ outputs: inout [SessionOutput]) {
        finishCodeRequests(verification.takeRequests(), .failure(fault), &outputs)
    }

    func failConfirmations(_ fault: VerificationFault, _ outputs: inout [SessionOutput]) {
        finishCodeRequests(verification.takeConfirmations(), .failure(fault), &outputs)
    }

    private func finishCodeRequests(
        _ requests: [UInt64], _ outcome: Result<String, VerificationFault>,
        _ outputs: inout [SessionOutput]
    ) {
        if !requests.isEmpty { outputs.append(.verified(requests, outcome)) }
    }
}
