import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerMesh
import MultipeerSecurity

/// An application's answer to the trust question.
enum TrustAnswer: Sendable {
    case yes, no, never
    /// Yes after that many nanoseconds.
    case yesAfter(Int64)
}

/// One simulated peer: the engine of a session, on a computer with a clock of its own.
final class Node {
    let index: Int
    let peer: PeerID
    let profile: Scenario.Peer
    /// Signs its entries; nil if its preference is none.
    let signer: Signer?
    var engine: SessionEngine
    var host: NodeHost
    var process = NodeProcess()
    var application = NodeApplication()
    /// The connections of the session, and those of them that are links, in the order in which they became links.
    var sockets: [ConnectionID: SimulatedSocket] = [:]
    var links: [SimulatedSocket] = []
    /// When it last closed a connection to each other node that was no link, by the network's clock.
    var closedTo: [Int: Int64] = [:]
    /// Its own invitations, and those from others.
    var asking: [InviterEnd] = []
    var asked: InviteeEnd
    /// The peers that have sent GOODBYE or FULL on a link, and when by the node's clock.
    var departed: [Endpoint: Moment] = [:]
    /// The members whose mesh links were lost, and when by the node's clock.
    var lost: [Endpoint: Moment] = [:]
    /// Whether something was received on channels and was perhaps not taken.
    var hearsChannels = false
    var evictions = 0
    var byzantine: ByzantinePeer?

    init(
        _ index: Int, _ peer: PeerID, _ profile: Scenario.Peer, _ signer: Signer?,
        _ engine: consuming SessionEngine
    ) {
        self.index = index
        self.peer = peer
        self.profile = profile
        self.signer = signer
        self.engine = engine
        asked = InviteeEnd(Invitee(peer, seed: peer.uid.low))
        host = NodeHost(deafUntil: profile.datagrams == .deaf ? .max : 0)
    }

    /// The UDP port of its process.
    var datagramPort: UInt16 { 60_000 + UInt16(process.life) }

    var uid: UID { peer.uid }
    /// Its uid, if that is the hash of its key.
    var keyedUID: UID? { uid.isKeyed ? uid : nil }
    /// Of its certificate.
    var fingerprint: Fingerprint? { engine.mesh.local.fingerprint }
    var mesh: Mesh { engine.mesh }
    var endpoint: Endpoint { engine.mesh.local.endpoint }
    /// Returns whether a call that leads to this peer has no outcome yet.
    func isWanted(_ uid: UID) -> Bool {
        application.requests.values.contains(uid) || application.connects.values.contains(uid)
    }
    /// Returns whether the two sides of an invitation have not agreed yet.
    func isAgreeing(_ request: ConnectRequestID) -> Bool {
        asking.contains { $0.request == request && $0.engine.machine.phase != .over }
            || asked.accepted.values.contains { $0.request == request }
    }

    var ends: [InvitationEnd] { asking + [asked] }
    var isRunning: Bool { process.isUp && !process.isPaused }
    var isHonest: Bool { profile.role != .byzantine }

    func link(to uid: UID) -> SimulatedSocket? { links.first { $0.linkState?.peer.uid == uid } }

    /// All its connections, in a fixed order.
    var everySocket: [SimulatedSocket] {
        sockets.keys.sorted().compactMap { sockets[$0] }
            + ends.flatMap { end in end.sockets.keys.sorted().compactMap { end.sockets[$0] } }
    }

    func candidate() -> Candidate? { Candidate(address: [127, 0, 0, UInt8(index + 1)], port: host.port) }
}

/// The computer of a node.
struct NodeHost {
    /// Whether the computer answers packets, with or without the process.
    var isUp = false
    /// How far its clock is ahead of the network's, in nanoseconds.
    var offset: Int64 = 0
    /// The last two moments when its clock jumped, or it resumed after a stop.
    var disturbances: [Int64] = [0, 0]
    /// When its clock last jumped by more than `World.sleep`, by the network's clock.
    var sleptUntil = Int64.min / 2
    /// The same by its own clock, after the jump.
    var wokeAt = Int64.min / 2
    /// When something last happened, by the network's clock, that may end links of this peer.
    var troubledAt = Int64.min / 2
    var port: UInt16 = 50_000
    /// No UDP packet reaches it before this time.
    var deafUntil: Int64
    /// No UDP packet reaches it, or gets out of it, before this time.
    var silentUntil: Int64 = 0
    var loss: Loss?

    /// A time in which many of its UDP packets, each way, are lost.
    struct Loss {
        let percent: Int
        let until: Int64
    }

    init(deafUntil: Int64) { self.deafUntil = deafUntil }
}

/// The process in which the session of a node runs.
struct NodeProcess {
    /// The number of the process: what was meant for an earlier one never reaches it.
    var life = 0
    var isUp = false
    /// Whether it is stopped, as by SIGSTOP, until it is resumed.
    var isPaused = false
    /// The events that came meanwhile.
    var backlog: [SimulationEvent] = []
    /// The time for which the next wake is posted.
    var wakeAt = Int64.max
    /// How many times in a row its deadline was now.
    var hurry = 0
    var hurriedAt: Int64 = 0
}

/// What an application wants, and what it was notified of.
struct NodeApplication {
    /// Its answer to trust questions, and the questions that it has not answered.
    var trust = TrustAnswer.yes
    var questions: [ConnectionID: UID] = [:]
    /// The peers to which it wants a link.
    var wantedPeers: Set<UID> = []
    /// The peers that it gave up since it last called for a link to them.
    var withdrawn: Set<UID> = []
    /// Calls with connection data that have no outcome yet, and their peers.
    var connects: [ConnectRequestID: UID] = [:]
    /// Invitations that have no outcome yet, and their invitees.
    var requests: [ConnectRequestID: UID] = [:]
    /// Whether it has said goodbye; a session that leaves without that was evicted.
    var isDeparting = false
    /// Whether it does not take its messages.
    var isSlow = false
    /// What it has not taken since then.
    var unreadInput = UnreadInput()
    /// Requests for a verification code, and for notice that messages were received.
    var codeRequests: [UInt64: CodeRequest] = [:]
    var flushRequests: [UInt64: FlushRequest] = [:]
    /// The last state that it received for each peer.
    var heard: [UID: PeerStateMachine.State] = [:]
    /// Since when a peer is connecting, by this node's own clock, which measures its attempts.
    var connecting: [UID: Moment] = [:]
    /// When the attempt of the last invitation of each peer ends, by the same clock.
    var invitationEnds: [UID: Moment] = [:]
    var journal: [SimulatedPeer.Event] = []
}
