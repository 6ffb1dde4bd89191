package import MultipeerCore
import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerLink
package import MultipeerMesh

/// One whole session as a value: its connections from the first frame to the last, its links, its mesh, and every limit
/// that holds for all of them together.
///
/// ```
///    calls of the application          outputs: events, orders
///              │                                ▲
///   time ──▶ ┌─┴────────────────────────────────┴─┐
///            │           SessionEngine            │ ──▶ deadline
///            └─▲───────────────────────────────┬──┘
///        facts │ accepted, secured, received,  │ fill
///              │ ended                         ▼ bytes
///            sockets and TLS, or whatever takes their place
/// ```
///
/// The engine knows connections by number and never touches a socket, a clock, a lock, a task or a random source. After
/// every call its owner carries out `takeOutputs()` in order, writes what `fill` gives for each of `takeDue()`, and sleeps
/// until `deadline`. Two owners that do so behave alike: that is what makes a simulation of the engine a proof of the
/// session.
package struct SessionEngine: ~Copyable {
    /// Who is sought, linked, and a member.
    package internal(set) var mesh: Mesh
    package let configuration: Configuration
    var connections = ConnectionTable()
    /// Those that are links, in the order in which they became so.
    var links: [Connection] = []
    var outputs: [SessionOutput] = []
    var unauthenticated = UnauthenticatedConnections()
    var turns = ReassemblyTurns()
    package var datagrams: DatagramPaths
    var requests = ConnectRequests()
    var unread = UnreadEvents()
    /// Feeds GREASE, nothing secret.
    var jitter: Jitter
    var now = Moment(nanoseconds: 0)
    var leaving = Leaving.staying

    /// Whether the session leaves.
    enum Leaving: Equatable {
        case staying
        /// Links drain until that moment.
        case draining(until: Moment)
        /// Every link has ended; connections are closing.
        case closing
        /// The owner knows.
        case left
    }

    /// What holds for every instance of one session.
    package struct Configuration: Sendable {
        /// Peers of the mesh at most, the local one included; links are one fewer. [limit.links]
        package var peers: Int
        package var timing: Liveness.Timing
        /// The session joins no mesh: its peers are not introduced to each other. [mesh.star]
        package var isStar: Bool
        /// Unreliable messages may go over UDP, and connection data says so. [dgram.offer]
        package var takesDatagrams: Bool
        package var datagramTiming: DatagramPath.Timing
        /// Bytes of channels that all links together may hold unread. [limit.memory]
        package var memory: Int

        package init(
            peers: Int = Limits.peers, timing: Liveness.Timing = .init(), isStar: Bool = false,
            takesDatagrams: Bool = false, datagramTiming: DatagramPath.Timing = .init(),
            memory: Int = ReceiveMemory.limit
        ) {
            self.peers = peers
            self.timing = timing
            self.isStar = isStar
            self.takesDatagrams = takesDatagrams
            self.memory = memory
            self.datagramTiming = datagramTiming
        }
    }

    /// `seed` feeds jitter, holds and GREASE, nothing secret.
    package init(_ local: LocalPeer, _ configuration: Configuration = Configuration(), seed: UInt64) {
        self.configuration = configuration
        datagrams = DatagramPaths(
            isOffered: configuration.takesDatagrams, timing: configuration.datagramTiming)
        jitter = Jitter(seed: seed ^ 0x5E55_1047)
        mesh = Mesh(local, peers: configuration.peers, seed: seed)
    }

    /// The interfaces on which link-local addresses are tried.
    package var zones: [UInt32] {
        get { mesh.zones }
        set { mesh.zones = newValue }
    }
}

// MARK: - What follows

extension SessionEngine {
    /// What there is to do and to tell, in order. Empty when nothing is left.
    package mutating func takeOutputs() -> [SessionOutput] {
        settle()
        datagrams.collect(into: &outputs)
        finishLeaving()
        if outputs.isEmpty { return [] }
        defer { outputs = [] }
        return outputs
    }

    /// The connections that may have something to write, each once.
    package mutating func takeDue() -> [ConnectionID] { connections.takeDue() }

    mutating func markDue(_ connection: Connection) { connections.markDue(connection) }

    /// The next moment at which `advance` has something to do.
    package var deadline: Moment? {
        var earliest = mesh.deadline
        func note(_ moment: Moment?) {
            guard let moment else { return }
            earliest = earliest.map { min($0, moment) } ?? moment
        }
        note(turns.deadline)
        note(requests.deadline)
        if case .draining(let until) = leaving { note(until) }
        note(connections.deadline)
        for connection in links {
            note(connection.peer?.link.deadline)
            note(connection.peer?.verification.deadline)
            note(connection.peer?.datagrams.deadline)
        }
        return earliest
    }

    /// Tells the time. Connections are read before, so that no peer is judged by bytes that wait unread.
    package mutating func advance(to now: Moment) {
        self.now = now
        mesh.advance(to: now)
        // What was decided about a link comes before the link itself: it may be dead by now, too.
        settle()
        for connection in connections.overdue(at: now) { drop(connection) }
        for connection in links {
            guard let peer = connection.peer else { continue }
            expireRequests(peer)
            datagrams.advance(peer, to: now)
            guard let deadline = peer.link.deadline, deadline <= now else { continue }
            peer.link.advance(to: now)
            markDue(connection)
            collect(connection, peer)
        }
        advanceTurns()
        requests.expire(at: now, &mesh, &outputs)
        if case .draining(let until) = leaving, until <= now { endAllLinks() }
    }

    /// Draws the consequences of everything that happened.
    mutating func settle() {
        while true {
            let actions = mesh.takeActions()
            if actions.isEmpty { return }
            for action in actions { carryOut(action) }
        }
    }
}
