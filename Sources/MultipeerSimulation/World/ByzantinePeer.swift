import MultipeerCore
import MultipeerEngine
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity

/// The lies that one member sends to the others, besides its regular frames.
struct ByzantinePeer: Sendable {
    enum Behaviour: String, CaseIterable, Sendable {
        /// Members that do not exist, with the lowest ids, linked to the Byzantine peer and to each other.
        case inventions
        /// Entries of honest members with the highest sequence, without any links. Where members have keys, the signatures
        /// are not theirs.
        case slander
        /// Entries of honest members a little newer than the real ones, without any links: where members have no keys, these
        /// have to be corrected.
        case whispers
        /// Entries of honest members with a key, an address and a signature of its own.
        case impostor
        /// Entries that break a rule: the link that brings one ends.
        case nonsense
        /// Inventions and slander, as fast as a receiver allows, and different to each peer.
        case everything
    }

    let lie: Behaviour
    /// When it stops lying, by the network's clock.
    let end: Int64
    var inventions: [Members] = []
    /// Entries in the name of honest members, by their endpoints.
    var impostors: [Endpoint: Members] = [:]
    var turn = 0
    /// Counts its inventions, to choose the one to send.
    var next = 0
    var sequence: UInt32 = 0

    /// Returns the frames without entries of others. A member that lies as fast as receivers tolerate has no room for
    /// them: its own links would end for it, and whether honest peers keep to the rate would stay unchecked.
    func withoutNews(_ frames: [UInt8], from own: Endpoint, at now: Int64) -> [UInt8] {
        guard lie == .everything, now < end else { return frames }
        var kept: [UInt8] = []
        for place in FrameRanges(in: frames) {
            var isNews = false
            if place.header.kind == .members,
                case .members(let entry)? = try? Frame(place.header, frames.span.extracting(place.payload))
            {
                isNews = entry.origin != own
            }
            if !isNews { kept += frames[place.whole] }
        }
        return kept
    }
}

/// What lying members do.
final class ByzantinePeers: Subsystem {
    let world: World
    /// The frames that were sent and break a rule.
    private var nonsense: Set<[UInt8]> = []

    init(_ world: World) { self.world = world }

    func beginLying(_ node: Node, _ lie: ByzantinePeer.Behaviour, until end: Int64) {
        guard node.process.isUp, !node.links.isEmpty else { return }
        say("\(node.index) begins to lie: \(lie)")
        observer.liesSince = observer.liesSince ?? now
        var byzantine = ByzantinePeer(lie: lie, end: end)
        byzantine.inventions = (0..<24).compactMap { invent($0, beside: node) }
        node.byzantine = byzantine
        post(.lie(node: node.index, life: node.process.life), after: 0)
    }

    /// Returns a member that does not exist, at an address that no node has.
    private func invent(_ number: Int, beside node: Node) -> Members? {
        let uid = UID(high: UInt64(number / 2), low: random.next())
        return entry(Endpoint(uid: uid, instance: random.next()), number, beside: node)
    }

    /// Returns an entry of this endpoint with a key of the forger, or without one if it has none.
    private func entry(_ endpoint: Endpoint, _ number: Int, beside node: Node) -> Members? {
        guard let peer = try? PeerID(validating: endpoint.uid, displayName: "nobody"),
            let address = Candidate(address: [127, 0, 9, 200], port: 40_000 + UInt16(number))
        else { return nil }
        let certificate = node.signer == nil ? [] : random.bytes(32)
        let local = LocalPeer(
            peer: peer, instance: endpoint.instance, preference: node.signer == nil ? .none : .optional,
            hasIdentity: endpoint.uid.isKeyed,
            fingerprint: certificate.isEmpty ? nil : Fingerprint(SHA256.hash(certificate)))
        var forge = LinkEstablishment(local, seed: random.next())
        guard
            let data = try? forge.connectionData(
                for: nil, candidates: [address], flags: .mesh, token: random.bytes(32), at: moment(node))
        else { return nil }
        return Members(
            origin: endpoint, sequence: 1, members: [node.endpoint], blob: data.bytes,
            certificate: certificate)
    }

    func lie(_ node: Node, _ life: Int) {
        guard node.process.life == life, var byzantine = node.byzantine, now < byzantine.end else { return }
        post(
            .lie(node: node.index, life: life), after: byzantine.lie == .everything ? 60_000_000 : 250_000_000
        )
        guard node.isRunning else { return }
        byzantine.turn += 1
        var entry = lieOfTurn(&byzantine, node)
        for socket in node.links where socket.linkState?.isMesh == true {
            if byzantine.lie == .everything, byzantine.turn % 3 != 0 { entry = invention(&byzantine, node) }
            guard let entry = entry.map(signed) else { continue }
            var frame = ByteBuffer()
            Frame.members(entry).encode(into: &frame)
            let bytes = frame.takeAll()
            if byzantine.lie == .nonsense { nonsense.insert(bytes) }
            say(bytes, on: socket)
        }
        node.byzantine = byzantine
        settle(node)
    }

    /// Returns the entry with a signature if it has a certificate of which the forger has the key. Where it was changed under
    /// the certificate of another member, the old signature stays.
    private func signed(_ entry: Members) -> Members {
        guard !entry.certificate.isEmpty,
            !nodes.contains(where: { $0.isHonest && $0.signer?.certificate == entry.certificate })
        else { return entry }
        var entry = entry
        entry.signature = SimulatedSignatures.signer(entry.certificate).sign(entry.signedBytes) ?? []
        return entry
    }

    /// Sends frames past the engine, which knows nothing of the lie: they go between its own frames, each of them whole.
    private func say(_ frames: [UInt8], on socket: SimulatedSocket) {
        guard !socket.hasEnded else { return }
        observer.watchFrames(frames, socket)
        network.send(.bytes(frames), on: socket.connection, toward: 1 - socket.end)
    }

    /// Checks frames that were received: a link that brought one that breaks a rule has ended.
    func judge(_ bytes: [UInt8], _ socket: SimulatedSocket, of node: Node) {
        guard !nonsense.isEmpty, nonsense.contains(bytes), node.isHonest, failure == nil else { return }
        sessions.carryOut(node)
        if node.links.contains(where: { $0 === socket }) {
            fail(.rules, "\(name(socket)) delivered an entry that breaks the rules, and is still a link")
        }
    }

    private func lieOfTurn(_ byzantine: inout ByzantinePeer, _ node: Node) -> Members? {
        if byzantine.lie == .nonsense {
            var own = node.mesh.entries.first { $0.origin == node.endpoint }
            // No peer is a member of its own list.
            own?.members = [node.endpoint]
            return own
        }
        let isSlander =
            byzantine.lie == .slander || byzantine.lie == .whispers
            || (byzantine.lie == .everything && byzantine.turn & 1 == 1)
        if isSlander {
            var victims = node.mesh.entries.filter { $0.origin != node.endpoint }
            // Only a member that receives the lie can correct it.
            if byzantine.lie == .whispers { victims = victims.filter { node.mesh.isLinked(to: $0.origin) } }
            guard !victims.isEmpty else { return nil }
            var entry = victims[byzantine.turn / 2 % victims.count]
            entry.sequence = byzantine.turn & 2 == 0 ? .max : .max - UInt32(byzantine.turn & 0xFFF)
            if byzantine.lie == .whispers {
                entry.sequence = victims[byzantine.turn / 2 % victims.count].sequence + 1
            }
            entry.members = byzantine.turn & 4 == 0 ? [] : [node.endpoint]
            return entry
        }
        if byzantine.lie == .impostor {
            let victims = node.mesh.entries.filter { $0.origin != node.endpoint }
            guard !victims.isEmpty else { return nil }
            let victim = victims[byzantine.turn % victims.count]
            guard
                var entry = byzantine.impostors[victim.origin]
                    ?? entry(victim.origin, byzantine.turn, beside: node)
            else { return nil }
            entry.sequence = max(entry.sequence, victim.sequence) + 1
            byzantine.impostors[victim.origin] = entry
            return entry
        }
        // The Byzantine peer's own entry has to list them, or no peer would count them in.
        guard byzantine.turn % 6 != 0 else {
            guard var own = node.mesh.entries.first(where: { $0.origin == node.endpoint }) else { return nil }
            byzantine.sequence += 1
            own.sequence = own.sequence &+ 1_000_000 &+ byzantine.sequence
            own.members = Array((own.members + byzantine.inventions.map(\.origin)).prefix(31)).sorted {
                ($0.uid, $0.instance) < ($1.uid, $1.instance)
            }
            return own
        }
        return invention(&byzantine, node)
    }

    /// Returns an entry of a member that does not exist.
    private func invention(_ byzantine: inout ByzantinePeer, _ node: Node) -> Members? {
        guard !byzantine.inventions.isEmpty else { return nil }
        byzantine.next += 1
        let chosen = byzantine.next % byzantine.inventions.count
        var entry = byzantine.inventions[chosen]
        entry.sequence += 1
        entry.members = ([node.endpoint] + byzantine.inventions.prefix(4).map(\.origin)).filter {
            $0 != entry.origin
        }
        .sorted { ($0.uid, $0.instance) < ($1.uid, $1.instance) }
        byzantine.inventions[chosen] = entry
        return entry
    }
}
