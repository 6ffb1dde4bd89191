import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerIntroduction
import MultipeerMesh
import MultipeerSecurity

/// One simulated peer: the engine of a session, on a computer with a clock of its own.
final class Node {
    let index: Int
    let peer: PeerID
    let profile: Scenario.Peer
    let fingerprint: Fingerprint?
    var engine: SessionEngine
    /// Counts the processes: what was meant for one before this one never reaches it.
    var life = 0
    /// The process runs; its computer answers.
    var isUp = false
    var isHostUp = true
    /// The process is stopped, like by SIGSTOP: until somebody lets it go on.
    var isPaused = false
    /// What came meanwhile.
    var backlog: [Happening] = []
    /// How far this computer's clock is ahead of the network's, in nanoseconds.
    var offset: Int64 = 0
    /// When its clock jumped, or it went on after a stop, the last two times.
    var disturbances: [Int64] = [0, 0]
    /// When something happened last, by the network's clock, that may end links of this peer.
    var troubledAt = Int64.min / 2
    /// Who has said GOODBYE or FULL on a link, and when by the node's clock.
    var departed: [Endpoint: Moment] = [:]
    /// Whom the application wants to be linked to.
    var sought: Set<UID> = []
    var port: UInt16 = 50_000
    var sockets: [ConnectionID: Socket] = [:]
    /// Those that are links, in the order in which they became so.
    var links: [Socket] = []
    /// Its application has said goodbye; without that, a session that leaves is evicted.
    var isDeparting = false
    /// For when the next wake is posted.
    var wakeAt = Int64.max
    /// How often in a row its deadline was now.
    var hurry = 0
    var hurriedAt: Int64 = 0
    /// The application does not take its messages.
    var isSlow = false
    /// What the application has heard of each peer last.
    var heard: [UID: PeerStates.State] = [:]
    /// Since when a peer is connecting.
    var connecting: [UID: Int64] = [:]
    /// How many outcomes the application waits for.
    var attempts: [UID: Int] = [:]
    var evictions = 0
    var liar: Liar?
    var journal: [SimulatedPeer.Event] = []

    init(
        _ index: Int, _ peer: PeerID, _ profile: Scenario.Peer, _ fingerprint: Fingerprint?,
        _ engine: consuming SessionEngine
    ) {
        self.index = index
        self.peer = peer
        self.profile = profile
        self.fingerprint = fingerprint
        self.engine = engine
    }

    var uid: UID { peer.uid }
    var mesh: Mesh { engine.mesh }
    var endpoint: Endpoint { engine.mesh.local.endpoint }
    var isRunning: Bool { isUp && !isPaused }
    var isHonest: Bool { profile.role != .liar }

    func link(to uid: UID) -> Socket? { links.first { $0.seat?.peer.uid == uid } }

    func candidate() -> Candidate? { Candidate(address: [127, 0, 0, UInt8(index + 1)], port: port) }
}
