import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake

/// The connections of one end of invitations, which a node owns. A session's own belong to the node itself.
class InvitationEnd {
    var sockets: [ConnectionID: SimulatedSocket] = [:]

    func connected(_ id: ConnectionID, at now: Moment) {}
    func secured(_ id: ConnectionID, keyedUID: UID?, at now: Moment) {}
    func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Moment) -> Int { bytes.count }
    func ended(_ id: ConnectionID, _ setback: ConnectionFailure, at now: Moment) {}
    func fill(_ id: ConnectionID, into output: inout ByteBuffer) {}
    func takeDue() -> [ConnectionID] { [] }
    func advance(to now: Moment) {}
    var deadline: Moment? { nil }
}

/// The end with this machine.
class InvitationMachineEnd<Machine: InvitationMachine>: InvitationEnd {
    var engine: InvitationEngine<Machine>

    init(_ machine: Machine) { engine = InvitationEngine(machine) }

    override func connected(_ id: ConnectionID, at now: Moment) { engine.connected(id, at: now) }

    override func secured(_ id: ConnectionID, keyedUID: UID?, at now: Moment) {
        engine.secured(id, keyedUID: keyedUID, at: now)
    }

    override func receive(_ bytes: Span<UInt8>, on id: ConnectionID, at now: Moment) -> Int {
        engine.receive(bytes, on: id, at: now)
    }

    override func ended(_ id: ConnectionID, _ setback: ConnectionFailure, at now: Moment) {
        engine.ended(id, setback, at: now)
    }

    override func fill(_ id: ConnectionID, into output: inout ByteBuffer) { engine.fill(id, into: &output) }
    override func takeDue() -> [ConnectionID] { engine.takeDue() }
    override func advance(to now: Moment) { engine.advance(to: now) }
    override var deadline: Moment? { engine.deadline }
}

/// One invitation at the inviter's end.
final class InviterEnd: InvitationMachineEnd<Inviter> {
    let request: ConnectRequestID
    let peer: PeerID
    let end: Moment
    /// The connections that were dialled for it.
    var connections: Set<Int> = []
    /// Whether the peer accepted, and was sent this side's data.
    var isAgreed = false

    init(_ request: ConnectRequestID, of peer: PeerID, until end: Moment, _ inviter: Inviter) {
        self.request = request
        self.peer = peer
        self.end = end
        super.init(inviter)
    }
}

/// All invitations at the invitee's end.
final class InviteeEnd: InvitationMachineEnd<Invitee> {
    /// The invitations that the application has not answered.
    var questions: [QuestionID: Invitee.InvitationRequest] = [:]
    /// The invitations that it has accepted.
    var accepted: [QuestionID: AcceptedInvitation] = [:]

    struct AcceptedInvitation {
        let request: ConnectRequestID
        let asked: Invitee.InvitationRequest
        /// The connection on which the answer was sent.
        let connection: Int?
        /// The session that agreed has left since.
        var isAbandoned = false
    }
}
