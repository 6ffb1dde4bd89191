package import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerLink
package import MultipeerMesh
package import MultipeerSecurity

/// Why there is no verification code.
package enum VerificationFault: Error, Equatable, Sendable {
    /// There is no link to the peer.
    case notLinked
    /// On a plain link there is nothing that a code could protect.
    case notEncrypted
    /// The other side has not done its part in time: mostly because its application has not asked.
    case timedOut
    case ended(EndReason)
    case cancelled
    case security(SecurityFault)
}

/// The verification code of one link, and the requests that wait for it. Spec 13.
struct Verification: ~Copyable {
    struct Request {
        let number: UInt64
        let until: Moment
    }

    /// Nil until the key is there.
    private var machine: VerificationCode?
    /// The owner was asked for the key.
    var isDeriving = false
    /// What came before the key, in order.
    private var early: [Frame] = []
    private(set) var requests: [Request] = []
    /// A request waits for the key.
    private var hasAsked = false

    var deadline: Moment? { requests.lazy.map(\.until).min() }
    /// The six digits, once both ends have them.
    private(set) var code: String?
    private(set) var hasKey = false
    /// Frames of the code wait for the key: nothing after them may be judged before.
    var needsKey: Bool { !early.isEmpty }

    mutating func add(_ request: Request) { requests.append(request) }

    mutating func remove(_ number: UInt64) { requests.removeAll { $0.number == number } }

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

    /// The key is there. Returns what the application's own request says, and the frames that waited.
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
        self.machine = consume machine
        return answer
    }
}

extension SessionEngine {
    /// Requests the code of the link to a peer. `verified` brings it once both ends have it, or why there is none; the
    /// other side does its part when its application asks.
    package mutating func requestCode(
        of uid: UID, _ number: UInt64, within patience: Duration, at now: Moment
    ) throws(VerificationFault) {
        self.now = now
        guard let id = link(to: uid), let connection = connections[id], let peer = connection.peer else {
            throw .notLinked
        }
        guard peer.isEncrypted else { throw .notEncrypted }  // [sas.plain]
        if let code = peer.verification.code {  // [sas.once]
            return outputs.append(.verified([number], .success(code)))
        }
        peer.verification.add(Verification.Request(number: number, until: now + patience))
        if let frame = peer.verification.ask() { peer.link.say(frame) }
        deriveKey(connection, peer)
        markDue(connection)
    }

    /// The application waits no longer; the run goes on.
    package mutating func cancelCodeRequest(_ number: UInt64) {
        for connection in links { connection.peer?.verification.remove(number) }
    }

    /// The link's TLS exporter for the code, and 32 random bytes.
    package mutating func verificationKey(
        _ id: ConnectionID, key: SecureBytes, nonce: SecureBytes, at now: Moment
    ) {
        self.now = now
        guard let connection = connections[id], let peer = connection.peer, !peer.verification.hasKey else {
            return
        }
        let code = VerificationCode(
            as: mesh.local.endpoint.uid < peer.peer.uid ? .controlling : .controlled,  // [sas.role]
            key: key, nonce: nonce)
        let waiting = peer.verification.begin(code)
        if let frame = waiting.ask { peer.link.say(frame) }
        markDue(connection)
        for frame in waiting.early { verify(frame, connection, peer) }
    }

    /// The key of the code cannot be had.
    package mutating func verificationFailed(_ id: ConnectionID, _ fault: SecurityFault, at now: Moment) {
        self.now = now
        guard let connection = connections[id], let peer = connection.peer else { return }
        failRequests(peer, .security(fault))
        endLink(id, EndReason(code: .internal, detail: "\(fault)"), telling: .internal)
    }

    /// The key and the nonce are made for the first request or frame: most links never need them.
    private mutating func deriveKey(_ connection: Connection, _ peer: LinkedPeer) {
        guard !peer.verification.isDeriving else { return }
        peer.verification.isDeriving = true
        outputs.append(.deriveVerificationKey(connection.id))
    }

    /// A frame of the peer's run.
    mutating func verify(_ frame: Frame, _ connection: Connection, _ peer: LinkedPeer) {
        guard connection.peer === peer else { return }
        guard peer.isEncrypted else {  // [sas.plain]
            return refuse(
                .protocolError, "a frame of the verification code on a plain link", connection)
        }
        guard peer.verification.hasKey else {
            peer.verification.keep(frame)
            return deriveKey(connection, peer)
        }
        do throws(VerificationCode.Violation) {
            switch try peer.verification.receive(frame) {
            case .say(let answer): peer.link.say(answer)
            case .tellApplication: tell(.verificationRequested(peer.peer), of: peer.peer.uid)  // [sas.asked]
            case .nothing: break
            }
        } catch {
            return refuse(error.closeCode, error.description, connection)
        }
        guard let code = peer.verification.code else { return }
        let requests = peer.verification.takeRequests()
        if !requests.isEmpty { outputs.append(.verified(requests, .success(code))) }
    }

    private mutating func refuse(_ code: CloseCode, _ detail: String, _ connection: Connection) {
        endLink(
            connection.id, EndReason(code: .protocolViolation, closeCode: code, detail: detail),
            telling: code)
    }

    /// Requests that waited long enough fail; the run goes on, and its code is there for the next request. [sas.wait]
    mutating func expireRequests(_ peer: LinkedPeer) {
        guard let deadline = peer.verification.deadline, deadline <= now else { return }
        outputs.append(.verified(peer.verification.takeRequests(until: now), .failure(.timedOut)))
    }

    mutating func failRequests(_ peer: LinkedPeer, _ failure: VerificationFault) {
        let requests = peer.verification.takeRequests()
        if !requests.isEmpty { outputs.append(.verified(requests, .failure(failure))) }
    }
}
