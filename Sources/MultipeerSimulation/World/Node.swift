import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

/// What an application answers to the question of trust.
enum TrustAnswer: Sendable {
    case yes, no, never
    /// After so many nanoseconds.
    case yesAfter(Int64)
}

/// One simulated peer: the engine of a session, on a computer with a clock of its own.
final class Node {
    let index: Int
    let peer: PeerID
    let profile: Scenario.Peer
    let fingerprint: Fingerprint?
    var engine: SessionEngine
    var host: NodeHost
    var process = NodeProcess()
    var application = NodeApplication()
    /// The connections of the session, and those of them that are links, in the order in which they became so.
    var sockets: [ConnectionID: SimulatedSocket] = [:]
    var links: [SimulatedSocket] = []
    /// When it last closed a connection that was no link to each other node, by the network's clock.
    var closedTo: [Int: Int64] = [:]
    /// Its own invitations, and those of others.
    var asking: [InviterEnd] = []
    var asked: InviteeEnd
    /// Who has said GOODBYE or FULL on a link, and when by the node's clock.
    var departed: [Endpoint: Moment] = [:]
    /// Something has come on channels and was perhaps not taken.
    var hearsChannels = false
    var evictions = 0
    var byzantine: ByzantinePeer?

    init(
        _ index: Int, _ peer: PeerID, _ profile: Scenario.Peer, _ fingerprint: Fingerprint?,
        _ engine: consuming SessionEngine
    ) {
        self.index = index
        self.peer = peer
        self.profile = profile
        self.fingerprint = fingerprint
        self.engine = engine
        asked = InviteeEnd(Invitee(peer))
        host = NodeHost(deafUntil: profile.datagrams == .deaf ? .max : 0)
    }

    /// Of its process.
    var datagramPort: UInt16 { 60_000 + UInt16(process.life) }

    var uid: UID { peer.uid }
    var mesh: Mesh { engine.mesh }
    var endpoint: Endpoint { engine.mesh.local.endpoint }
    /// A call that leads to this peer has no outcome.
    func isWanted(_ uid: UID) -> Bool {
        application.requests.values.contains(uid) || application.connects.values.contains(uid)
    }
    /// The two sides of an invitation have not agreed yet.
    func isAgreeing(_ request: ConnectRequestID) -> Bool {
        asking.contains { $0.request == request && $0.engine.machine.phase != .over }
            || asked.accepted.values.contains { $0.request == request }
    }

    var ends: [InvitationEnd] { asking + [asked] }
    var isRunning: Bool { process.isUp && !process.isPaused }
    var isHonest: Bool { profile.role != .byzantine }

    func link(to uid: UID) -> SimulatedSocket? { links.first { $0.linkState?.peer.uid == uid } }

    /// Every connection that it has, in one order.
    var everySocket: [SimulatedSocket] {
        sockets.keys.sorted().compactMap { sockets[$0] }
            + ends.flatMap { end in end.sockets.keys.sorted().compactMap { end.sockets[$0] } }
    }

    func candidate() -> Candidate? { Candidate(address: [127, 0, 0, UInt8(index + 1)], port: host.port) }
}

/// The computer of a node.
struct NodeHost {
    /// It answers, whether the process runs or not.
    var isUp = false
    /// How far its clock is ahead of the network's, in nanoseconds.
    var offset: Int64 = 0
    /// When its clock jumped, or it went on after a stop, the last two times.
    var disturbances: [Int64] = [0, 0]
    /// When its clock last jumped by more than `World.sleep`, by the network's clock.
    var sleptUntil = Int64.min / 2
    /// The same by its own clock, after the jump.
    var wokeAt = Int64.min / 2
    /// When something happened last, by the network's clock, that may end links of this peer.
    var troubledAt = Int64.min / 2
    var port: UInt16 = 50_000
    /// No UDP packet reaches it before.
    var deafUntil: Int64

    init(deafUntil: Int64) { self.deafUntil = deafUntil }
}

/// The process in which the session of a node runs.
struct NodeProcess {
    /// Counts the processes: what was meant for one before this one never reaches it.
    var life = 0
    var isUp = false
    /// It is stopped, like by SIGSTOP: until somebody lets it go on.
    var isPaused = false
    /// What came meanwhile.
    var backlog: [SimulationEvent] = []
    /// For when the next wake is posted.
    var wakeAt = Int64.max
    /// How often in a row its deadline was now.
    var hurry = 0
    var hurriedAt: Int64 = 0
}

/// What an application wants, and what it was told.
struct NodeApplication {
    /// What it says when it is asked whom to trust, and what it was asked and has not answered.
    var trust = TrustAnswer.yes
    var questions: [ConnectionID: UID] = [:]
    /// Whom it wants to be linked to.
    var wantedPeers: Set<UID> = []
    /// Whom it gave up since it last called for a link to them.
    var withdrawn: Set<UID> = []
    /// Calls with connection data that have no outcome, and to whom.
    var connects: [ConnectRequestID: UID] = [:]
    /// Invitations that have no outcome, and of whom.
    var requests: [ConnectRequestID: UID] = [:]
    /// It has said goodbye; without that, a session that leaves is evicted.
    var isDeparting = false
    /// It does not take its messages.
    var isSlow = false
    /// What it has not taken since.
    var unreadInput = UnreadInput()
    /// Who waits for a verification code, and for messages to have come.
    var codeRequests: [UInt64: CodeRequest] = [:]
    var flushRequests: [UInt64: FlushRequest] = [:]
    /// What it has heard of each peer last.
    var heard: [UID: PeerStateMachine.State] = [:]
    /// Since when a peer is connecting.
    var connecting: [UID: Int64] = [:]
    var journal: [SimulatedPeer.Event] = []
}
