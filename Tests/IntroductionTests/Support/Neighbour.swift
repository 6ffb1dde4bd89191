import MultipeerCore
import MultipeerFraming
import MultipeerIntroduction
import MultipeerSecurity

@testable import MultipeerEngine
@testable import MultipeerMesh
@testable import MultipeerSimulation

/// One session of a `Neighbourhood`, and what its application was told.
final class Neighbour {
    enum Event: Equatable {
        case linked(UID, ConnectionID)
        case failed(UID, EndReason)
        case ended(UID, ConnectionID, EndReason)
        /// It connects without a call of the application.
        case sought(UID)
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
                world.network.paths.setDoor(other, node.index, isListening ? .open : .refusing)
            }
        }
    }
    /// Whether the application connects again, a second after a failure or the end of a link.
    var insists = false
    /// A call of the application is under way.
    var isCalling = false
    var held: [UID: ConnectionData] = [:]
    var events: [Event] = []
    var questions: [ConnectionID] = []
    /// The codes with which this end closed connections that were not links.
    var closes: [CloseCode] = []
    /// The codes of CLOSE frames that arrived.
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
    var links: [Socket] { node.links }
    /// Whom it connects to, for the application or by itself.
    var open: Set<UID> { Set(node.application.connects.values).union(node.mesh.peers(.connecting)) }
    var trust: Trust {
        get { node.application.trust }
        set { node.application.trust = newValue }
    }

    var dials: [Dial] {
        world.network.wires.filter { $0.nodes[0] == node.index }.map { wire in
            Dial(moment: Moment(nanoseconds: wire.dialledAt), candidate: wire.dialled, key: wire.key)
        }
    }

    func failures(of uid: UID) -> [EndReason] {
        events.compactMap { if case .failed(uid, let failure) = $0 { failure } else { nil } }
    }

    /// Takes back an attempt, as the mesh does when nobody lists the peer any more.
    func withdraw(_ uid: UID) {
        node.engine.mesh.introductions.withdraw(uid)
        node.engine.mesh.isSettled = false
        world.settle(node)
    }

    /// The process begins anew.
    func forget() { (held, events, questions, closes, heard) = ([:], [], [], [], []) }
}

/// What an application reads of a failed attempt.
extension EndReason {
    static var cancelled: EndReason { EndReason(IntroductionFailure.cancelled) }
    static func refused(_ code: CloseCode) -> EndReason { EndReason(IntroductionFailure.refused(code)) }
    static func refusedByPeer(_ code: CloseCode) -> EndReason {
        EndReason(IntroductionFailure.refusedByPeer(code))
    }
    static func timedOut(_ setback: Setback?) -> EndReason {
        EndReason(IntroductionFailure.timedOut(setback))
    }
}
