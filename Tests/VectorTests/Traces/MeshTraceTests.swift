import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerLink
import MultipeerMesh
import MultipeerSecurity
import TestSupport
import Testing

@Suite("11 Vectors of the mesh", .computing)
struct MeshTraceTests {
    /// Read once: it is long.
    private static let cast = Result { try MeshTracePeers() }

    @Test(
        "entries are checked and forwarded [mesh.link] [mesh.own] [mesh.newer] [mesh.first-hand] [mesh.flood] [mesh.rate-limit]",
        arguments: try traces(["Flood", "Newer", "FirstHand", "Own", "Pace"]), [1, 2])
    func entries(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    @Test(
        "members are found, and missing links dialled [mesh.component] [mesh.dial] [mesh.same-uid]",
        arguments: try traces(["Component", "Dial", "Direct"]), [1, 2])
    func members(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    @Test(
        "attempts end, pause and begin again [mesh.retry] [mesh.unreported] [mesh.withdraw] [mesh.missed]",
        arguments: try traces(["Retry", "Withdraw", "Missed"]), [1, 2])
    func attempts(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    @Test(
        "a member that leaves is forgotten, and so is an unneeded entry [mesh.departed] [mesh.entries]",
        arguments: try traces(["Departed", "Entries"]), [1, 2])
    func leaving(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    @Test(
        "a mesh is full at its cap [mesh.full] [mesh.counted] [mesh.evict] [mesh.backstop] [mesh.dismiss] [mesh.suspended]",
        arguments: try traces(["Full", "Counted", "Evict", "Backstop"]), [1, 2])
    func cap(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    @Test(
        "no member speaks for another [mesh.signature] [mesh.one-key]",
        arguments: try traces(["Signature", "OneKey"]), [1, 2])
    func signatures(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws { try run(vector, seed) }

    private func run(_ vector: Vector<MeshTrace>, _ seed: UInt64) throws {
        var play = try MeshTracePlayer(try Self.cast.get(), vector.body, seed: seed)
        for step in vector.body.steps { try play.perform(step) }
        #expect(play.held == vector.body.held)
        #expect(play.fault == vector.fault)
    }

    /// Returns the traces whose first flag is one of these: each trace is in one list.
    private static func traces(_ flags: Set<String>) throws -> [Vector<MeshTrace>] {
        try VectorFiles.all(MeshTrace.self).filter { flags.contains($0.body.flags[0]) }
    }

    @Test("no trace is omitted")
    func all() throws {
        let flags = Set(try VectorFiles.all(MeshTrace.self).map { $0.body.flags[0] })
        #expect(
            flags.isSubset(of: [
                "Flood", "Newer", "FirstHand", "Own", "Pace", "Component", "Dial", "Direct", "Retry",
                "Withdraw", "Missed", "Departed", "Entries", "Full", "Counted", "Evict", "Backstop",
                "Signature",
                "OneKey",
            ]))
    }
}

/// A membership that a trace drives, as its owner would: what is due is done at its time.
private struct MeshTracePlayer {
    let cast: MeshTracePeers
    let local: String
    var membership: Membership
    var actions: [Membership.Action] = []
    var fault: Fault?
    /// The links, and whether each is one of the mesh.
    private var links: [UInt32: Bool] = [:]
    private var remotes: [UInt32: Endpoint] = [:]
    private let mostLinks: Int

    init(_ cast: MeshTracePeers, _ trace: MeshTrace, seed: UInt64) throws {
        self.cast = cast
        local = trace.local
        mostLinks = trace.cap - 1
        let me = try cast(trace.local)
        membership = Membership(me.endpoint, peers: trace.cap, signer: me.signer, seed: seed)
    }

    var held: [MeshTrace.Held] {
        membership.entries.map { MeshTrace.Held(of: cast.name($0.origin), sequence: $0.sequence) }
    }

    mutating func perform(_ step: MeshTrace.Step) throws {
        actions = []
        if step.do != "sleep" { wait(until: .after(step.at)) }
        let before = actions.count
        try apply(step, at: .after(step.at))
        take(at: .after(step.at))
        check(step, since: before)
    }

    private mutating func wait(until end: Moment) {
        while let deadline = membership.deadline, deadline <= end {
            membership.advance(to: deadline)
            take(at: deadline)
        }
        membership.advance(to: end)
        take(at: end)
    }

    /// Takes what is due. Where another peer's link has left no room, a member is not dialled but only sent FULL. [mesh.counted]
    private mutating func take(at now: Moment) {
        for action in membership.takeActions() {
            guard case .connect(let data, let isFirst) = action, links.count >= mostLinks,
                links.values.contains(false) || membership.isCutOff(data.endpoint)
            else {
                actions.append(action)
                continue
            }
            membership.attemptEnded(data.peer.uid, isHopeless: false, isUntried: isFirst, at: now)
        }
    }

    private mutating func apply(_ step: MeshTrace.Step, at now: Moment) throws {
        let id = ConnectionID(rawValue: step.link ?? 0)
        switch step.do {
        case "publish":
            let peer = try cast(local)
            membership.publish(step.data == nil ? peer.data : try #require(peer.second), at: now)
        case "link":
            let remote = try cast(#require(step.to))
            links[id.rawValue] = step.mesh == true
            remotes[id.rawValue] = remote.endpoint
            membership.linked(
                id, to: remote.endpoint, isMesh: step.mesh == true, key: remote.data.fingerprint, at: now)
        case "end":
            links[id.rawValue] = nil
            membership.linkEnded(
                id, hasDeparted: step.departed == true, isLost: step.lost == true, at: now)
            if step.candidate == true {
                membership.searchGoesOn(for: try #require(remotes[id.rawValue]), at: now)
            }
        case "receive":
            let entry =
                try step.hex.map(received)
                ?? cast.members(#require(step.entry), isSecondData: step.data == "second")
            for _ in 0..<(try #require(step.count)) { receive(entry, on: id, at: now) }
        case "met": membership.met(try cast(#require(step.peer)).endpoint, at: now)
        case "failed":
            let uid = try cast(#require(step.peer)).endpoint.uid
            let end: Membership.AttemptEnd =
                switch step.code {
                case nil, "CANCELLED": .failed
                case "TIMEOUT": .timedOut
                case "UNKNOWN_PEER": .unexpected
                case "FULL": .full
                default: .refused
                }
            membership.attemptEnded(uid, end, isHopeless: step.hopeless == true, at: now)
        case "admit":
            let list = try #require(step.list).map { try cast($0).endpoint }
            let remote = try cast(#require(step.peer)).endpoint
            #expect(membership.admits(remote, listing: list) == step.admitted)
        case "sleep": membership.advance(to: now)
        default: #expect(step.do == "look")
        }
    }

    private func received(_ payload: Hex) throws -> Members {
        let header = FrameHeader(.members, length: payload.bytes.count)
        guard case .members(let entry) = try Frame(header, payload.bytes.span) else {
            throw FramingError.truncated
        }
        return entry
    }

    private mutating func receive(_ entry: Members, on id: ConnectionID, at now: Moment) {
        do throws(Violation) {
            try membership.receive(entry, on: id, at: now)
        } catch {
            let check =
                switch error {
                case .tooManyEntries: "bucket"
                case .outOfPlace(.members): "link"
                case .badEntry(.foreignKey): "key"
                case .badSignature: "signature"
                default: "\(error)"
                }
            fault = Fault(check, error.closeCode.name)
        }
    }

    private func check(_ step: MeshTrace.Step, since before: Int) {
        let place: Comment = "at \(step.at), \(step.do)"
        #expect(membership.component.map(cast.name) == step.component, place)
        #expect(told(actions).sorted(by: areInOrder) == (step.told ?? []), place)
        #expect(connects.sorted { $0.peer < $1.peer } == (step.connects ?? []), place)
        #expect(withdrawn.sorted() == (step.withdrawn ?? []), place)
        #expect(hidden.sorted() == (step.hidden ?? []), place)
        #expect(dismissed == (step.dismissed ?? []), place)
        let leaves = actions.contains(.leave)
        #expect(leaves == (step.leaves ?? false), place)
        #expect(fault?.code == step.error, place)
        if step.do == "link", step.mesh == true {
            let first = told(Array(actions[before...])).first { $0.link == step.link }
            #expect(first?.entry.of == local, place)
        }
        for case .tell(_, let entry) in actions { check(entry, place) }
    }

    /// With every entry goes the data of its endpoint, and the signature of its key.
    private func check(_ entry: Members, _ place: Comment) {
        let peer = try? cast(cast.name(entry.origin))
        guard peer?.signer != nil else {
            #expect(entry.blob == peer?.data.bytes || entry.blob == peer?.second?.bytes, place)
            return
        }
        let isSigned = SignatureVerifier.standard.isValid(
            entry.signature, of: entry.signedBytes, by: entry.certificate)
        #expect(isSigned, place)
    }

    private func told(_ actions: [Membership.Action]) -> [MeshTrace.Told] {
        actions.compactMap {
            guard case .tell(let id, let entry) = $0 else { return nil }
            return MeshTrace.Told(link: id.rawValue, entry: cast.entry(entry))
        }
    }

    private func areInOrder(_ one: MeshTrace.Told, _ other: MeshTrace.Told) -> Bool {
        (one.link, one.entry.of, one.entry.sequence) < (other.link, other.entry.of, other.entry.sequence)
    }

    private var connects: [MeshTrace.Connect] {
        actions.compactMap {
            guard case .connect(let data, let isFirst) = $0 else { return nil }
            return MeshTrace.Connect(peer: cast.name(data.endpoint), isShown: isFirst)
        }
    }

    private var dismissed: [UInt32] {
        actions.compactMap {
            guard case .dismiss(let id) = $0 else { return nil }
            return id.rawValue
        }
    }

    private var hidden: [String] {
        actions.compactMap {
            guard case .hide(let uid) = $0 else { return nil }
            return cast.name(ofPeer: uid)
        }
    }

    private var withdrawn: [String] {
        actions.compactMap {
            guard case .withdraw(let uid) = $0 else { return nil }
            return cast.name(ofPeer: uid)
        }
    }
}
