import MultipeerCore
import MultipeerSecurity

/// What must hold once nothing goes wrong any more.
struct Rest {
    private let world: World
    private let scenario: Scenario

    /// Both ends hold a link when this has passed.
    private static let beginning: Int64 = 2_000_000_000

    init(_ world: World, _ scenario: Scenario) {
        self.world = world
        self.scenario = scenario
    }

    private var nodes: [Node] { world.nodes.filter(\.isUp) }
    private var hasLiar: Bool { scenario.peers.contains { $0.role == .liar } }
    /// All lies were of the kind that honest members put right.
    private var hasWhispers: Bool {
        scenario.steps.allSatisfy { step in
            if case .lie(_, let lie, _) = step.action { lie == Liar.Lie.whispers.rawValue } else { true }
        }
    }

    private var hasTwins: Bool {
        scenario.peers.contains { if case .twin = $0.role { true } else { false } }
    }

    func check() {
        for node in nodes { checkLinks(node) }
        for component in components() { check(component) }
        for node in nodes where node.isHonest {
            checkAttempts(node)
            checkDepartures(node)
            if hasLiar { checkFirstHand(node) }
        }
    }

    // MARK: links

    /// Symmetry, and one connection.
    private func checkLinks(_ node: Node) {
        for socket in node.links {
            guard socket.remote >= 0 else { continue }
            let far = world.nodes[socket.remote]
            guard node.isHonest || far.isHonest else { continue }
            // What a liar made of the mesh fades when it does, so a link may begin at any time: SELECTED is on its way.
            if hasLiar, let seat = socket.seat, world.now - seat.since < Rest.beginning { continue }
            guard !socket.wire.isDead, let other = socket.wire.sockets[1 - socket.end], let seat = other.seat
            else {
                world.fail(
                    far.link(to: node.uid) == nil ? .symmetry : .oneConnection,
                    "peer \(node.index) is linked to \(far.index) by \(world.name(socket)), which is not \(far.index)'s link"
                )
                return
            }
            if seat.peer.uid != node.uid {
                world.fail(.symmetry, "\(world.name(socket)) is a link to another peer at its other end")
            }
        }
    }

    /// Who is sought, and who is believed in.
    private func checkDepartures(_ node: Node) {
        let component = Set(node.mesh.component.map(\.uid))
        for uid in node.connecting.keys.sorted() where !node.sought.contains(uid) && !component.contains(uid)
        {
            world.fail(.gone, "peer \(node.index) is connecting to one that is not in the mesh")
        }
        let origins = Set(node.mesh.entries.map(\.origin))
        for (endpoint, left) in node.departed where origins.contains(endpoint) {
            guard world.moment(node) < left + .seconds(60) else { continue }
            world.fail(.departed, "peer \(node.index) holds an entry of one that left")
        }
    }

    private func checkAttempts(_ node: Node) {
        for uid in node.connecting.keys.sorted() {
            guard let since = node.connecting[uid] else { continue }
            if world.now - since > 33_000_000_000, since > World.start {
                world.fail(
                    .stuck, "peer \(node.index) is connecting since \((since - World.start) / 1_000_000) ms")
            }
        }
        for uid in node.attempts.keys.sorted() where !node.mesh.awaits(uid) {
            world.fail(.outcomes, "peer \(node.index) waits for an attempt that is over")
        }
        for uid in node.attempts.keys.sorted()
        where !hasTwins && node.link(to: uid) != nil && node.heard[uid] == .connected {
            if node.mesh.peers(.connecting).contains(uid) { continue }
            world.fail(.outcomes, "peer \(node.index) is linked, and the attempt waits for its outcome")
        }
        for socket in node.links {
            guard let uid = socket.seat?.peer.uid, node.heard[uid] != .connected else { continue }
            world.fail(.states, "peer \(node.index) is linked to \(socket.remote) and heard otherwise")
        }
        for uid in node.heard.keys.sorted() where node.heard[uid] == .connected && node.link(to: uid) == nil {
            world.fail(.states, "peer \(node.index) heard of a link that it has not")
        }
    }

    // MARK: components

    /// Nodes that are joined by mesh links.
    private func components() -> [[Node]] {
        var rest = nodes
        var found: [[Node]] = []
        while let first = rest.popLast() {
            var component = [first]
            var next = 0
            while next < component.count {
                for socket in component[next].links where socket.seat?.isMesh == true {
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
        if !hasLiar, uids.count > scenario.cap {
            world.fail(.component, "\(uids.count) members: \(component.map(\.index))")
        }
        for (place, one) in honest.enumerated() where !hasLiar {
            for other in honest[(place + 1)...] where !areLinked(one, other) && mustLink(one, other) {
                world.fail(
                    .clique,
                    "peers \(one.index) and \(other.index) of \(component.map(\.index)) are not linked")
            }
        }
        if !hasLiar || hasWhispers, !hasTwins { checkEntries(component) }
    }

    /// Whatever a liar says of honest members, those that are linked to them believe them alone.
    private func checkFirstHand(_ node: Node) {
        // The news of a link that begins is still on its way.
        let links = nodes.flatMap(\.links).compactMap(\.seat)
        guard links.allSatisfy({ world.now - $0.since >= Rest.beginning }) else { return }
        let entries = node.mesh.entries
        for socket in node.links where socket.seat?.isMesh == true {
            let far = world.nodes[socket.remote]
            guard far.isHonest, let own = far.mesh.entries.first(where: { $0.origin == far.endpoint }),
                entries.first(where: { $0.origin == far.endpoint }) != own
            else { continue }
            world.fail(.database, "peer \(node.index) does not hold what its neighbour \(far.index) says")
        }
    }

    private func areLinked(_ one: Node, _ other: Node) -> Bool {
        one.links.contains { $0.remote == other.index } || one.link(to: other.uid) != nil
            || other.link(to: one.uid) != nil
    }

    private func mustLink(_ one: Node, _ other: Node) -> Bool {
        guard one.uid != other.uid, !isSought(one, by: other), !isSought(other, by: one), hasRoom(one),
            hasRoom(other),
            !world.paths.isFirewalled(one.index, other.index)
        else { return false }
        return areCompatible(one, other)
    }

    /// An application seeks it with data of its own, perhaps of an instance that is no more: until that attempt is over,
    /// the mesh does not interfere.
    private func isSought(_ node: Node, by other: Node) -> Bool { other.attempts[node.uid] != nil }

    /// Links that make no introductions may have taken the last seat.
    private func hasRoom(_ node: Node) -> Bool {
        node.links.count < scenario.cap - 1 || node.links.allSatisfy { $0.seat?.isMesh == true }
    }

    private func areCompatible(_ one: Node, _ other: Node) -> Bool {
        EncryptionOutcome.between(
            one.profile.preference, identity: one.profile.hasIdentity, and: other.profile.preference,
            identity: other.profile.hasIdentity) != .refused
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
                let truth = member.links.filter { $0.seat?.isMesh == true }.compactMap {
                    $0.seat?.data.endpoint
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
    struct Sendings {
        let wire: Wire
        let end: Int
        let sent: Int
        let spent: UInt64
    }

    func sendings() -> [Sendings] {
        nodes.flatMap(\.links).map { socket in
            let record = socket.wire.record
            return Sendings(
                wire: socket.wire, end: socket.end, sent: record.sent[socket.end],
                spent: record.spent[socket.end])
        }
    }

    /// What waited before has come, or is at least on its way.
    func compare(_ before: [Sendings]) {
        for one in before where one.wire.sockets.allSatisfy({ $0?.seat != nil }) {
            let record = one.wire.record
            guard record.received[1 - one.end] < one.sent, record.spent[one.end] == one.spent else {
                continue
            }
            world.fail(
                .delivery,
                "wire \(one.wire.number) brought \(record.received[1 - one.end]) of \(one.sent) messages")
        }
    }

    // MARK: joins

    /// Pairs of applications that could make one mesh of two, with room for all: their peers join now.
    func join() -> [(Int, Int)] {
        guard !hasLiar, !hasTwins else { return [] }
        var pairs: [(Int, Int)] = []
        let all = components().sorted { $0[0].index < $1[0].index }
        guard let first = all.first, let last = all.last, all.count > 1,
            first.count + last.count <= scenario.cap
        else { return [] }
        for one in first {
            guard
                let other = last.first(where: { other in
                    world.paths.canMeet(one.index, other.index) && mustLink(one, other)
                        && one.links.count < scenario.cap - 1 && other.links.count < scenario.cap - 1
                })
            else { continue }
            world.join(one.index, other.index, joinsMesh: true, isAddressed: false)
            pairs.append((one.index, other.index))
            break
        }
        return pairs
    }

    func checkJoined(_ pairs: [(Int, Int)]) {
        for (one, other) in pairs where !areLinked(world.nodes[one], world.nodes[other]) {
            world.fail(.joins, "peers \(one) and \(other) joined in calm and are not linked")
        }
        check()
    }

    /// Two peers join whose meshes have no room for each other, although both have seats. Answers whether there are such.
    func crowd() -> Bool {
        guard !hasLiar, !hasTwins else { return false }
        let all = components().sorted { $0[0].index < $1[0].index }
        for (place, near) in all.enumerated() {
            for far in all[(place + 1)...] where near.count + far.count > scenario.cap {
                for one in near where one.links.count < scenario.cap - 1 {
                    for other in far where other.links.count < scenario.cap - 1 && makesMesh(one, other) {
                        world.join(one.index, other.index, joinsMesh: true, isAddressed: false)
                        return true
                    }
                }
            }
        }
        return false
    }

    private func makesMesh(_ one: Node, _ other: Node) -> Bool {
        mustLink(one, other) && !areLinked(one, other) && world.paths.canMeet(one.index, other.index)
            && (one.profile.preference == .none) == (other.profile.preference == .none)
    }

    func checkRefused(_ before: Picture) {
        let after = picture()
        if after.links != before.links || after.instances != before.instances {
            world.fail(.refusal, "links were \(before.links), are \(after.links)")
        }
    }

    // MARK: stillness

    struct Picture: Equatable {
        var links: [[Int]] = []
        var components: [[Endpoint]] = []
        var sequences: [[UInt32]] = []
        var instances: [UInt64] = []
        /// An application still seeks somebody by itself: what comes of it may come later.
        var isAwaiting = false
    }

    func picture() -> Picture {
        var picture = Picture()
        picture.isAwaiting = nodes.contains { !$0.attempts.isEmpty }
        for node in nodes where node.isHonest {
            picture.links.append(node.links.map(\.wire.number).sorted())
            if hasLiar || hasTwins { continue }
            picture.components.append(node.mesh.component)
            let own = node.mesh.entries.filter { $0.origin == node.endpoint }
            picture.sequences.append(own.map(\.sequence))
            picture.instances.append(node.endpoint.instance)
        }
        return picture
    }

    /// Not with a liar: what it made of the mesh may fade later.
    func compare(_ before: Picture) {
        guard !hasLiar, !before.isAwaiting else { return }
        let after = picture()
        guard after != before else { return }
        let what =
            after.links != before.links
            ? "links" : after.components != before.components ? "components" : "entries"
        world.fail(.stillness, "the \(what) changed: \(before.links) then \(after.links)")
    }
}
