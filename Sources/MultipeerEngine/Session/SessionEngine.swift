package import MultipeerCore
import MultipeerFraming
package import MultipeerHandshake
import MultipeerLink
package import MultipeerMesh

/// One whole session as a value: its connections from the first frame to the last, its links, its mesh, and every limit
/// that applies to all of them together.
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
/// The engine knows connections by number and never uses a socket, a clock, a lock, a task or a random source. After every
/// call its owner carries out `takeOutputs()` in order, writes what `fill` returns for each of `links.takeDue()`, and sleeps
/// until `deadline`. Two owners that do so behave alike: therefore a simulation of the engine tests the session.
package struct SessionEngine: ~Copyable {
    /// Which peers are connecting, linked, and members.
    package internal(set) var mesh: Mesh
    package let configuration: SessionEngineConfiguration
    /// The connections, and the data of those that are links.
    package var links: LinkTable
    var outputs: [SessionOutput] = []
    var unauthenticated: UnauthenticatedConnections
    package var datagrams: DatagramPaths
    var requests = ConnectRequests()
    var unread = UnreadEvents()
    /// Feeds GREASE, nothing secret.
    var jitter: Jitter
    var now = Moment(nanoseconds: 0)
    var leaving = ShutdownPhase.staying

    /// Creates an engine without connections. `seed` feeds jitter, holds, draws and GREASE, nothing secret.
    package init(
        _ local: LocalPeer, _ configuration: SessionEngineConfiguration = .init(), seed: UInt64
    ) {
        self.configuration = configuration
        datagrams = DatagramPaths(
            isOffered: configuration.takesDatagrams, timing: configuration.datagramTiming)
        links = LinkTable(
            memory: ReceiveMemory(limit: configuration.memory), messageCredit: local.limits.messageCredit)
        jitter = Jitter(seed: seed ^ 0x5E55_1047)
        unauthenticated = UnauthenticatedConnections(seed: seed ^ 0x0D2A_711E)
        mesh = Mesh(local, peers: configuration.peers, seed: seed)
    }

    /// The interfaces on which link-local addresses are tried.
    package var zones: [UInt32] {
        get { mesh.zones }
        set { mesh.zones = newValue }
    }
}

// MARK: - Outputs and time

extension SessionEngine {
    /// Returns the actions and events, in order. Empty when none is left.
    package mutating func takeOutputs() -> [SessionOutput] {
        var list: [SessionOutput] = []
        _ = takeOutputs(swapping: &list)
        return list
    }

    /// Swaps the actions and events, in order, with an emptied list, whose memory is reused. Returns false when none is left.
    package mutating func takeOutputs(swapping list: inout [SessionOutput]) -> Bool {
        settle()
        datagrams.collect(&links, into: &outputs)
        finishLeaving()
        if outputs.isEmpty { return false }
        swap(&outputs, &list)
        return true
    }

    /// Whether `takeOutputs` would return nothing. Asked six times in a turn, and mutating although nothing changes: to call what
    /// only reads so large a value, Swift copies it.
    package var isQuiet: Bool {
        mutating get {
            outputs.isEmpty && mesh.isSettled && datagrams.isQuiet
                && (leaving == .staying || leaving == .left)
        }
    }

    /// The next time at which `advance` has an effect. Mutating like `isQuiet`.
    package var deadline: Moment? {
        mutating get {
            // A mesh is large, too, and usually it is settled.
            let mesh = mesh.isSettled ? mesh.settledDeadline : mesh.deadline
            return .earlier(
                .earlier(mesh, requests.deadline), .earlier(leaving.deadline, links.deadline))
        }
    }

    /// Advances the time. Connections are read before, so that bytes that wait unread do not count as idle time.
    package mutating func advance(to now: Moment) {
        self.now = now
        mesh.advance(to: now)
        // Decisions about a link come before the link itself, which may have timed out by now.
        settle()
        for connection in links.connections.overdue(at: now) { drop(connection) }
        var hasPinged = false
        for connection in links.linked {
            guard let peer = connection.peer else { continue }
            peer.expireCodeRequests(at: now, &outputs)
            datagrams.advance(peer, to: now)
            guard let deadline = peer.link.deadline, deadline <= now else { continue }
            let due = peer.link.advance(to: now)
            if due == .ping { hasPinged = true }
            if due != .nothing { outputs.append(.observe(peer.id)) }
            collect(connection, peer)
        }
        if hasPinged { joinPings() }
        if let id = links.overdueTurn(at: now) { endTurn(of: id) }
        requests.expire(at: now, &mesh, &outputs)
        if let until = leaving.deadline, until <= now { endAllLinks() }
    }

    /// Sends what else is due soon on an idle link, so that the session and its peers are woken once for all of it.
    private mutating func joinPings() {
        for connection in links.linked {
            guard let peer = connection.peer else { continue }
            datagrams.joinPing(peer, at: now)
            guard peer.link.joinPing(at: now) else { continue }
            outputs.append(.observe(peer.id))
            collect(connection, peer)
        }
    }

    /// Carries out the consequences of everything that happened.
    mutating func settle() {
        while !mesh.isSettled {
            let actions = mesh.takeActions()
            if actions.isEmpty { return }
            for action in actions { carryOut(action) }
        }
    }
}
