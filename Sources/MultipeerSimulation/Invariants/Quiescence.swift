import MultipeerCore
import MultipeerEngine
import MultipeerLink
import MultipeerSecurity

/// What must hold once all faults are over.
struct Quiescence {
    let world: World
    let scenario: Scenario

    /// The time after which both ends hold a link.
    private static let beginning: Int64 = 2_000_000_000

    init(_ world: World, _ scenario: Scenario) {
        self.world = world
        self.scenario = scenario
    }

    var nodes: [Node] { world.nodes.filter(\.process.isUp) }
    var hasByzantinePeer: Bool { scenario.peers.contains { $0.role == .byzantine } }
    /// Whether all lies were of the kind that honest members correct.
    private var hasWhispers: Bool {
        scenario.steps.allSatisfy { step in
            if case .lie(_, let lie, _) = step.action {
                lie == ByzantinePeer.Behaviour.whispers.rawValue
            } else {
                true
            }
        }
    }

    var hasTwins: Bool {
        scenario.peers.contains { if case .twin = $0.role { true } else { false } }
    }

    func check() {
        for node in nodes { checkLinks(node) }
        for component in components() { check(component) }
        checkReunions()
        for node in nodes where node.isHonest {
            checkAttempts(node)
            checkDepartures(node)
            if hasByzantinePeer { checkFirstHand(node) }
        }
    }

    // MARK: links

    /// Checks symmetry, and that there is one connection.
    private func checkLinks(_ node: Node) {
        for socket in node.links {
            guard socket.remote >= 0 else { continue }
            let far = world.nodes[socket.remote]
            guard node.isHonest || far.isHonest else { continue }
            // What a Byzantine peer did to the mesh expires in its own time, so a link may begin at any moment: SELECTED is on
            // its way.
            if hasByzantinePeer, let linkState = socket.linkState,
                world.now - linkState.since < Quiescence.beginning
            {
                continue
            }
            guard !socket.connection.isDead, let other = socket.connection.sockets[1 - socket.end],
                let linkState = other.linkState
            else {
                world.fail(
                    far.link(to: node.uid) == nil ? .symmetry : .oneConnection,
                    "peer \(node.index) is linked to \(far.index) by \(world.name(socket)), which is not \(far.index)'s link"
                )
                return
            }
            if linkState.peer.uid != node.uid {
                world.fail(.symmetry, "\(world.name(socket)) is a link to another peer at its other end")
            }
        }
    }

    /// Checks connecting peers, and members that are counted in.
    private func checkDepartures(_ node: Node) {
        let component = Set(node.mesh.component.map(\.uid))
        for uid in node.application.connecting.keys.sorted()
        where !node.application.wantedPeers.contains(uid) && !component.contains(uid) {
            world.fail(.gone, "peer \(node.index) is connecting to one that is not in the mesh")
        }
        let origins = Set(node.mesh.entries.map(\.origin))
        for (endpoint, left) in node.departed where origins.contains(endpoint) {
            guard world.moment(node) < left + .seconds(60) else { continue }
            world.fail(.departed, "peer \(node.index) holds an entry of a peer that left")
        }
    }

    private func checkAttempts(_ node: Node) {
        for uid in node.application.connecting.keys.sorted() {
            guard let since = node.application.connecting[uid] else { continue }
            let age = world.moment(node) - since
            if age > .seconds(33), since > Moment(nanoseconds: World.start) {
                world.fail(.stuck, "peer \(node.index) is connecting for \(age)")
            }
        }
        let agreed = node.application.requests.filter { !node.isAgreeing($0.key) }
        let waiting = Set(node.application.connects.values).union(agreed.values).sorted()
        for uid in waiting where !node.mesh.awaits(uid) {
            world.fail(.outcomes, "peer \(node.index) waits for an attempt that has ended")
        }
        for uid in waiting
        where !hasTwins && node.link(to: uid) != nil && node.application.heard[uid] == .connected {
            if node.mesh.peers(.connecting).contains(uid) { continue }
            world.fail(.outcomes, "peer \(node.index) is linked, and the attempt waits for its outcome")
        }
        for socket in node.links {
            guard let uid = socket.linkState?.peer.uid, node.application.heard[uid] != .connected else {
                continue
            }
            world.fail(.states, "peer \(node.index) is linked to \(socket.remote), but not notified")
        }
        for uid in node.application.heard.keys.sorted()
        where node.application.heard[uid] == .connected && node.link(to: uid) == nil {
            world.fail(.states, "peer \(node.index) was notified of a link that it does not have")
        }
    }

    // MARK: components

    /// Returns the groups of nodes that mesh links join.
    func components() -> [[Node]] {
        var rest = nodes
        var found: [[Node]] = []
        while let first = rest.popLast() {
            var component = [first]
            var next = 0
            while next < component.count {
                for socket in component[next].links where socket.linkState?.isMesh == true {
                    if let place = rest.firstIndex(where: { $0.index == socket.remote }) {
                        component.append(rest.remove(at: place))
                    }
                }
                next += 1
            }
            found.append(component.sorted { $0.index < $1.index })
        }
        return found
    }

    private func check(_ component: [Node]) {
        let honest = component.filter(\.isHonest)
        let uids = Set(component.map(\.uid))
        if !hasByzantinePeer, uids.count > scenario.cap {
            world.fail(.component, "\(uids.count) members: \(component.map(\.index))")
        }
        for (place, one) in honest.enumerated() where !hasByzantinePeer {
            for other in honest[(place + 1)...] where !areLinked(one, other) && mustLink(one, other) {
                world.fail(
                    .clique,
                    "peers \(one.index) and \(other.index) of \(component.map(\.index)) are not linked")
            }
        }
        if !hasByzantinePeer || hasWhispers, !hasTwins { checkEntries(component) }
    }

    /// Checks that members believe an honest member that they are linked to, whatever a Byzantine peer says of it.
    private func checkFirstHand(_ node: Node) {
        // The entry about a link that begins is still on its way.
        let links = nodes.flatMap(\.links).compactMap(\.linkState)
        guard links.allSatisfy({ world.now - $0.since >= Quiescence.beginning }) else { return }
        let entries = node.mesh.entries
        for socket in node.links where socket.linkState?.isMesh == true {
            let far = world.nodes[socket.remote]
            guard far.isHonest, let own = far.mesh.entries.first(where: { $0.origin == far.endpoint }),
                entries.first(where: { $0.origin == far.endpoint }) != own
            else { continue }
            world.fail(.database, "peer \(node.index) does not hold what its neighbour \(far.index) says")
        }
    }

    func areLinked(_ one: Node, _ other: Node) -> Bool {
        one.links.contains { $0.remote == other.index } || one.link(to: other.uid) != nil
            || other.link(to: one.uid) != nil
    }

    func mustLink(_ one: Node, _ other: Node) -> Bool {
        guard one.uid != other.uid, !isSought(one, by: other), !isSought(other, by: one), hasRoom(one),
            hasRoom(other),
            !world.network.reachability.isFirewalled(one.index, other.index)
        else { return false }
        return areCompatible(one, other)
    }

    /// Returns whether an application is connecting to it with connection data of its own, perhaps of an instance that no longer
    /// exists: until that attempt is over, the mesh does not interfere.
    private func isSought(_ node: Node, by other: Node) -> Bool { other.isWanted(node.uid) }

    /// Returns whether there is room for another link: links that make no introductions may have taken the last place.
    private func hasRoom(_ node: Node) -> Bool {
        node.links.count < scenario.cap - 1 || node.links.allSatisfy { $0.linkState?.isMesh == true }
    }

    func areCompatible(_ one: Node, _ other: Node) -> Bool { outcome(one, other) != .refused }

    func outcome(_ one: Node, _ other: Node) -> EncryptionPreference.Outcome {
        EncryptionPreference.Outcome.between(
            one.profile.preference, identity: one.profile.hasIdentity, and: other.profile.preference,
            identity: other.profile.hasIdentity)
    }

    private func checkEntries(_ component: [Node]) {
        let members = component.map(\.endpoint).sorted { $0.uid < $1.uid }
        for node in component {
            let others = members.filter { $0 != node.endpoint }
            if node.mesh.component.sorted(by: { $0.uid < $1.uid }) != others {
                world.fail(
                    .database,
                    "peer \(node.index) sees \(node.mesh.component.count) members, there are \(others.count)")
            }
            let entries = node.mesh.entries
            for member in component {
                let truth = member.links.filter { $0.linkState?.isMesh == true }.compactMap {
                    $0.linkState?.data.endpoint
                }
                .sorted { ($0.uid, $0.instance) < ($1.uid, $1.instance) }
                guard let entry = entries.first(where: { $0.origin == member.endpoint }) else {
                    if component.count > 1 {
                        world.fail(.database, "peer \(node.index) has no entry of \(member.index)")
                    }
                    continue
                }
                if entry.members != truth {
                    world.fail(
                        .database,
                        "peer \(node.index) holds that \(member.index) has \(entry.members.count) links, not \(truth.count)"
                    )
                }
                let own = member.mesh.entries.first { $0.origin == member.endpoint }
                if own?.sequence != entry.sequence {
                    world.fail(
                        .database,
                        "peer \(node.index) holds version \(entry.sequence) of \(member.index), which is at \(own?.sequence ?? 0)"
                    )
                }
            }
        }
    }

    // MARK: messages

    /// Both ends of a link, and what one of them has sent so far.
    struct SendProgress {
        let connection: SimulatedConnection
        let end: Int
        let sent: Int
        let spent: UInt64

        /// The node that receives it.
        var remote: Int { connection.nodes[1 - end] }
    }

    func sendProgress() -> [SendProgress] {
        nodes.flatMap(\.links).map { socket in
            let record = socket.connection.record
            return SendProgress(
                connection: socket.connection, end: socket.end, sent: record.sent[socket.end],
                spent: record.spent[socket.end])
        }
    }

    /// Checks that what waited before has come, or is at least on its way.
    func compare(_ before: [SendProgress]) {
        for one in before where one.connection.sockets.allSatisfy({ $0?.linkState != nil }) {
            let record = one.connection.record
            guard record.received[1 - one.end] < one.sent, record.spent[one.end] == one.spent,
                !isInTurn(one, before)
            else { continue }
            world.fail(
                .delivery,
                "connection \(one.connection.number) brought \(record.received[1 - one.end]) of \(one.sent) messages to "
                    + "\(one.connection.nodes[1 - one.end]): cost \(record.spent[one.end]) of "
                    + "\(record.credit[one.end])")
        }
    }

    /// Returns whether its receiver reassembles a long message of another link, which makes progress, so that this one waits.
    /// [limit.reassembly]
    func isInTurn(_ one: SendProgress, _ before: [SendProgress]) -> Bool {
        guard let socket = one.connection.sockets[1 - one.end],
            let peer = world.nodes[one.remote].engine.links.peer(on: socket.id), peer.link.wantsTurn,
            !peer.link.hasTurn
        else { return false }
        return before.contains { other in
            other.remote == one.remote && other.connection.record.spent[other.end] != other.spent
        }
    }

    // MARK: quiescence

    struct Snapshot: Equatable {
        var links: [[Int]] = []
        var components: [[Endpoint]] = []
        var sequences: [[UInt32]] = []
        var instances: [UInt64] = []
        /// Whether an application is still connecting to a peer by itself, with a result that may come later.
        var isAwaiting = false
        /// Links that have ended in the middle of a long message so far.
        var turnEnds = 0
    }

    func snapshot() -> Snapshot {
        var snapshot = Snapshot()
        snapshot.turnEnds = world.observer.turnEnds
        snapshot.isAwaiting = nodes.map(\.application).contains {
            !$0.connects.isEmpty || !$0.requests.isEmpty
        }
        for node in nodes where node.isHonest {
            snapshot.links.append(node.links.map(\.connection.number).sorted())
            if hasByzantinePeer || hasTwins { continue }
            snapshot.components.append(node.mesh.component)
            let own = node.mesh.entries.filter { $0.origin == node.endpoint }
            snapshot.sequences.append(own.map(\.sequence))
            snapshot.instances.append(node.endpoint.instance)
        }
        return snapshot
    }

    /// Checks that nothing has changed. Not with a Byzantine peer: what it did to the mesh may expire later. Nor when a link that
    /// brought a long message too slowly has ended meanwhile, which is established again. [limit.reassembly]
    func compare(_ before: Snapshot) {
        guard !hasByzantinePeer, !before.isAwaiting else { return }
        let after = snapshot()
        guard after != before, after.turnEnds == before.turnEnds else { return }
        let what =
            after.links != before.links
            ? "links" : after.components != before.components ? "components" : "entries"
        world.fail(.stillness, "the \(what) changed: \(before.links) then \(after.links)")
    }
}
