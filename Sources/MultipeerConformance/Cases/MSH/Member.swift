/// A member of a mesh that the tester plays: its mesh data, its entries, and its link to the subject.
final class Member {
    let tester: Tester
    /// Open data with MESH, as its entries carry it.
    let data: ConnectionData
    private(set) var sequence: UInt32 = 0
    private(set) var link: TesterLink?

    init(_ tester: Tester, _ change: (inout ConnectionData) -> Void = { _ in }) {
        self.tester = tester
        tester.flags = ConnectionData.Flag.mesh
        var data = tester.data(for: nil)
        change(&data)
        self.data = data
    }

    var endpoint: Endpoint { tester.endpoint }

    /// Returns the next entry of this member, with these mesh links.
    func entry(_ list: [Endpoint]) -> MemberEntry {
        sequence += 1
        return MemberEntry(endpoint, sequence, list: list, data: data.bytes).signed(with: tester.identity)
    }

    /// Returns the parameters of a connection to the subject, with the subject's mesh data.
    func linkParameters(_ blob: [UInt8]) throws -> LinkParameters {
        let theirData: ConnectionData
        do throws(Malformed) { theirData = try ConnectionData(blob) } catch {
            throw CaseFailure("the subject's mesh data: \(error)")
        }
        return LinkParameters(
            mine: data.bytes, myToken: data.token, theirs: blob, theirData: theirData, me: endpoint,
            limits: tester.limits, members: tester.members)
    }

    /// Links with a session that was asked to connect, or that connects to this member by itself.
    @discardableResult
    func join(_ session: SubjectSession, _ blob: [UInt8], within duration: Duration = .seconds(10)) throws
        -> TesterLink
    {
        let link = try tester.link(try linkParameters(blob), within: duration)
        try session.expect("connected", of: endpoint.uid, within: duration)
        self.link = link
        return link
    }

    func linked() throws -> TesterLink {
        guard let link else { throw SuiteFault("this member has no link") }
        return link
    }
}

extension TesterLink {
    /// Waits for the next entry of an endpoint that matches, and returns it.
    @discardableResult
    func expectEntry(
        of endpoint: Endpoint, within duration: Duration = .seconds(10),
        where fits: (MemberEntry) -> Bool = { _ in true }
    ) throws -> MemberEntry {
        let deadline = ContinuousClock.now + duration
        while true {
            let left = deadline - .now
            guard left > .zero else {
                throw CaseFailure("\(name): no such entry of \(endpoint.uid.hex) within \(duration)")
            }
            let frame = try expect(.members, within: left)
            let entry: MemberEntry
            do throws(Malformed) { entry = try MemberEntry(payload: frame.payload) } catch {
                throw CaseFailure("\(name): MEMBERS: \(error)")
            }
            if entry.endpoint == endpoint, fits(entry) { return entry }
        }
    }

    /// All entries that were received and not taken.
    var entries: [MemberEntry] {
        waiting.filter { $0.kind == .members }.compactMap { frame in
            do throws(Malformed) { return try MemberEntry(payload: frame.payload) } catch { return nil }
        }
    }
}

extension CaseRun {
    /// Creates a member whose uid is below or above the session's.
    func member(
        _ session: SubjectSession, _ name: String, order: UIDOrder? = nil,
        _ change: (inout ConnectionData) -> Void = { _ in }
    ) throws -> Member {
        Member(try tester(beside: session, name, preference: session.preference, order: order), change)
    }

    /// Creates a session with mesh links to `count` members, whose entries say that they are linked to it alone.
    func mesh(
        _ count: Int, _ settings: SubjectSession.Settings = .init(), order: UIDOrder? = nil
    ) throws -> (SubjectSession, Endpoint, [Member]) {
        try mesh([UIDOrder](repeating: order ?? self.order, count: count), settings)
    }

    /// The same, each below or above the session.
    func mesh(
        _ orders: [UIDOrder], _ settings: SubjectSession.Settings = .init()
    ) throws -> (SubjectSession, Endpoint, [Member]) {
        let session = try session(settings)
        let (endpoint, blob) = try session.meshData()
        var members: [Member] = []
        for (number, order) in orders.enumerated() {
            let member = try member(session, "member-\(number)", order: order)
            try session.connect(member.data.bytes)
            let link = try member.join(session, blob)
            link.send(member.entry([endpoint]).frame)
            members.append(member)
        }
        return (session, endpoint, members)
    }

    /// Creates members without a connection: their entries say that they are linked to these.
    func strangers(
        _ count: Int, of session: SubjectSession, like member: Member, listing: [Endpoint],
        order: UIDOrder? = nil
    ) -> [MemberEntry] {
        (0..<count).map { _ in
            var data = member.data
            data.endpoint = Endpoint(uid: uid(beside: session, order), instance: random.bytes(8))
            data.token = random.bytes(32)
            return MemberEntry(data.endpoint, 1, list: listing, data: data.bytes)
                .signed(with: member.tester.identity)
        }
    }
}
