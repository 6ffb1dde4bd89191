package import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
package import MultipeerSecurity

// MARK: the verification code of a link

extension SessionEngine {
    /// Requests the code of the link to a peer. `verified` reports it once both ends have it, or why there is none;
    /// the other side takes part when its application asks.
    package mutating func requestCode(
        of uid: UID, _ number: UInt64, within timeout: Duration, at now: Moment
    ) throws(VerificationFault) {
        self.now = now
        guard let id = links.link(to: uid), let peer = links.markedPeer(on: id) else { throw .notLinked }
        try peer.requestCode(Verification.Request(number: number, until: now + timeout), &outputs)
    }

    /// Confirms the code of the link to a peer for the local user. `verified` reports it once both users have confirmed.
    package mutating func confirmCode(
        of uid: UID, _ number: UInt64, at now: Moment
    ) throws(VerificationFault) {
        self.now = now
        guard let id = links.link(to: uid), let peer = links.markedPeer(on: id) else { throw .notLinked }
        try peer.confirmCode(number, &outputs)
    }

    /// Ends the link because its two users see codes that do not match. [sas.different]
    package mutating func rejectCode(of uid: UID, at now: Moment) throws(VerificationFault) {
        self.now = now
        guard let id = links.link(to: uid), let peer = links.peer(on: id) else { throw .notLinked }
        guard peer.verification.code != nil else { throw .noCode }
        endLink(id, DisconnectReason(code: .codesDiffer, closeCode: .wrongCode), telling: .wrongCode)
    }

    /// Declines to compare codes with a peer that wants to; does nothing when it does not.
    package mutating func declineCode(of uid: UID, at now: Moment) throws(VerificationFault) {
        self.now = now
        guard let id = links.link(to: uid), let peer = links.markedPeer(on: id) else { throw .notLinked }
        if let frame = peer.verification.decline() { peer.link.say(frame) }
    }

    /// Cancels a request of the application; the run continues.
    package mutating func cancelCodeRequest(_ number: UInt64) {
        for connection in links.linked { connection.peer?.verification.remove(number) }
    }

    /// Takes the output of the link's TLS exporter for the code, and 32 random bytes.
    package mutating func verificationKey(
        _ id: ConnectionID, key: SecureBytes, nonce: SecureBytes, at now: Moment
    ) {
        self.now = now
        guard let connection = links[id], let peer = links.markedPeer(on: id), !peer.verification.hasKey
        else { return }
        let isControlling = mesh.local.endpoint.uid < peer.peer.uid
        let early = peer.beginVerification(
            VerificationCode(
                as: isControlling ? .controlling : .controlled,  // [sas.role]
                key: key, nonce: nonce))
        for frame in early { verify(frame, connection, peer) }
    }

    /// Handles the failure to derive the key of the code.
    package mutating func verificationFailed(_ id: ConnectionID, _ fault: SecurityFault, at now: Moment) {
        self.now = now
        links.peer(on: id)?.failCodeRequests(.security(fault), &outputs)
        endLink(id, DisconnectReason(code: .internal, detail: "\(fault)"), telling: .internal)
    }

    /// Handles a frame of the peer's run.
    mutating func verify(_ frame: Frame, _ connection: Connection, _ peer: LinkedPeer) {
        guard connection.peer === peer else { return }
        do throws(VerificationCode.Violation) {
            switch try peer.verify(frame, &outputs) {
            case .nothing, .say: break
            case .tellApplication:
                tell(.verificationRequested(peer.peer), of: peer.peer.uid)  // [sas.requested]
            case .declined: peer.failCodeRequests(.declined, &outputs)
            case .confirmed:
                if peer.verification.isConfirmed { outputs.append(.codeConfirmed(peer.id, peer.peer)) }
                peer.completeConfirmations(&outputs)
            }
        } catch {
            return endLink(
                connection.id,
                DisconnectReason(
                    code: .protocolViolation, closeCode: error.closeCode, detail: error.description),
                telling: error.closeCode)
        }
        peer.completeCodeRequests(&outputs)
    }
}
