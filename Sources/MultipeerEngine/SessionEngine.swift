package import MultipeerCore
package import MultipeerFraming
package import MultipeerIntroduction
package import MultipeerLink
package import MultipeerMesh
package import MultipeerSecurity

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
    /// What the owner has to do, in order. The first group are orders, the second one events.
    package enum Output: Sendable {
        /// Open a connection. The owner answers with `secured` or `ended`.
        indirect case dial(ConnectionID, Candidate, accepting: Fingerprint?)
        /// Write what `fill` still gives, end this side of the connection, and wait for the peer to end its own.
        case finish(ConnectionID)
        /// Give the connection back to the system at once.
        case drop(ConnectionID)
        /// May the holder of this connection's key be linked? `decide` has the answer.
        case ask(UID, ConnectionID)
        /// The members' copy of our connection data is old: call `connectionData`, or `postponeRenewal`.
        case renewData
        /// The verification code of this link needs its key: call `verificationKey`, or `verificationFailed`.
        case deriveVerificationKey(ConnectionID)

        /// The connection is a link from now on; `remote` are the limits of the peer's HELLO. `isMesh`: entries of the
        /// mesh travel on it.
        indirect case linked(ConnectionID, ConnectionData, remote: LinkLimits, isMesh: Bool)
        /// Reliable messages. `consumed` is due when the application has taken them.
        case messages(ConnectionID, [IncomingMessage])
        case channels(ConnectionID, [ChannelEvent])
        /// The session holds too much unread: this channel of the peer was stopped.
        case relieved(ConnectionID, channel: UInt32)
        /// The peer has received everything that was sent before `mark` was called with this number.
        case markReached(UInt64)
        case datagramsOffered(ConnectionID, DatagramOffer)
        /// The peer's user wants to compare codes.
        case verificationRequested(PeerID)
        /// What became of these requests for a code.
        case verified([UInt64], Result<String, VerificationFault>)
        /// The link is over. Nothing about it comes after this.
        case unlinked(ConnectionID, PeerID, EndReason)
        /// The application is told this.
        case state(PeerID, PeerState)
        /// An attempt is over, with a link when there is no reason. Once for each attempt.
        case settled(UID, EndReason?)
        /// The mesh has too many members, and this session leaves: `unlinked` for each link and `left` follow.
        case evicted
        /// The session has left: no connection remains. `restart` begins its next instance.
        case left
    }

    /// Who is sought, linked, and a member.
    package internal(set) var mesh: Mesh
    package let configuration: Configuration
    var connections: [ConnectionID: Connection] = [:]
    /// Those that are links, in the order in which they became so.
    var links: [Connection] = []
    /// Those that only wait for the peer to end its side.
    var finishing: [Connection] = []
    /// Those that may have something to write.
    var due: [ConnectionID] = []
    var outputs: [Output] = []
    var unauthenticated = UnauthenticatedConnections()
    var turns = ReassemblyTurns()
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

        package init(peers: Int = Limits.peers, timing: Liveness.Timing = .init()) {
            self.peers = peers
            self.timing = timing
        }
    }

    /// How long a connection that was closed waits for the other end to close its side. [close.linger]
    package static let linger = Duration.seconds(1)

    /// `seed` feeds jitter, holds and GREASE, nothing secret.
    package init(_ local: LocalPeer, _ configuration: Configuration = Configuration(), seed: UInt64) {
        self.configuration = configuration
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
    package mutating func takeOutputs() -> [Output] {
        settle()
        finishLeaving()
        if outputs.isEmpty { return [] }
        defer { outputs = [] }
        return outputs
    }

    /// The connections that may have something to write, each once.
    package mutating func takeDue() -> [ConnectionID] {
        if due.isEmpty { return [] }
        defer { due = [] }
        for id in due { connections[id]?.isDue = false }
        return due
    }

    mutating func markDue(_ connection: Connection) {
        guard !connection.isDue else { return }
        connection.isDue = true
        due.append(connection.id)
    }

    /// The next moment at which `advance` has something to do.
    package var deadline: Moment? {
        var earliest = mesh.deadline
        func note(_ moment: Moment?) {
            guard let moment else { return }
            earliest = earliest.map { min($0, moment) } ?? moment
        }
        note(turns.deadline)
        if case .draining(let until) = leaving { note(until) }
        for connection in finishing { note(connection.finishDeadline) }
        for connection in links {
            note(connection.peer?.link.deadline)
            note(connection.peer?.verification.deadline)
        }
        return earliest
    }

    /// Tells the time. Connections are read before, so that no peer is judged by bytes that wait unread.
    package mutating func advance(to now: Moment) {
        self.now = now
        mesh.advance(to: now)
        // What was decided about a link comes before the link itself: it may be dead by now, too.
        settle()
        for connection in finishing {
            if let deadline = connection.finishDeadline, deadline <= now { drop(connection) }
        }
        for connection in links {
            guard let peer = connection.peer else { continue }
            expireRequests(peer)
            guard let deadline = peer.link.deadline, deadline <= now else { continue }
            peer.link.advance(to: now)
            markDue(connection)
            collect(connection, peer)
        }
        advanceTurns()
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
