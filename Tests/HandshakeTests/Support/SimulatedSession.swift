import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

@testable import MultipeerEngine
@testable import MultipeerMesh
@testable import MultipeerSimulation

/// One session of a `SimulatedSessions`, and the events of its application.
final class SimulatedSession {
    enum Event: Equatable {
        case linked(UID, ConnectionID)
        case failed(UID, DisconnectReason)
        case ended(UID, ConnectionID, DisconnectReason)
        /// It connects without a call of the application.
        case resumed(UID)
    }

    struct Dial: Equatable {
        let moment: Moment
        let candidate: Candidate
        let key: Fingerprint?
    }

    let node: Node
    private let world: World
    var isListening = true {
        didSet {
            for other in world.nodes.indices where other != node.index {
                world.network.reachability.setFirewall(other, node.index, isListening ? .open : .refusing)
            }
        }
    }
    /// Whether the application connects again, a second after a failure or the end of a link.
    var insists = false
    /// Whether a call of the application is in progress.
    var isCalling = false
    var held: [UID: ConnectionData] = [:]
    var events: [Event] = []
    var questions: [ConnectionID] = []
    /// The codes with which this end closed connections that were not links.
    var closes: [CloseCode] = []
    /// The codes of CLOSE frames that were received.
    var heard: [CloseCode] = []

    init(_ node: Node, in world: World) {
        self.node = node
        self.world = world
    }

    var uid: UID { node.uid }
    var endpoint: Endpoint { node.endpoint }
    var address: [UInt8] { [127, 0, 0, UInt8(node.index + 1)] }
    var port: UInt16 { node.host.port }
    var awaitsPlain: Bool { node.engine.awaitsPlain }
    var links: [SimulatedSocket] { node.links }
    /// The peers to which it is connecting, for the application or by itself.
    var open: Set<UID> { Set(node.application.connects.values).union(node.mesh.peers(.connecting)) }
    var trust: TrustAnswer {
        get { node.application.trust }
        set { node.application.trust = newValue }
    }

    var dials: [Dial] {
        world.network.connections.filter { $0.nodes[0] == node.index }.map { connection in
            Dial(
                moment: Moment(nanoseconds: connection.dialledAt), candidate: connection.dialled,
                key: connection.key)
        }
    }

    func failures(of uid: UID) -> [DisconnectReason] {
        events.compactMap { if case .failed(uid, let failure) = $0 { failure } else { nil } }
    }

    /// Returns whether an attempt goes on silently since the last end of a link.
    func hasResumed(_ uid: UID) -> Bool {
        for event in events.reversed() {
            switch event {
            case .resumed(uid): return true
            case .ended(uid, _, _): return false
            default: continue
            }
        }
        return false
    }

    /// Withdraws an attempt, as the mesh does when no member lists the peer any more.
    func withdraw(_ uid: UID) {
        node.engine.mesh.linkEstablishment.withdraw(uid)
        node.engine.mesh.isSettled = false
        world.settle(node)
    }

    /// Clears everything when the process restarts.
    func forget() { (held, events, questions, closes, heard) = ([:], [], [], [], []) }
}

/// How an application sees a failed attempt.
extension DisconnectReason {
    static var cancelled: DisconnectReason { DisconnectReason(LinkAttemptFailure.cancelled) }
    static func refused(_ code: CloseCode) -> DisconnectReason {
        DisconnectReason(LinkAttemptFailure.refused(code))
    }
    static func refusedByPeer(_ code: CloseCode) -> DisconnectReason {
        DisconnectReason(LinkAttemptFailure.refusedByPeer(code))
    }
    static func timedOut(_ setback: ConnectionFailure?) -> DisconnectReason {
        DisconnectReason(LinkAttemptFailure.timedOut(setback))
    }
}
