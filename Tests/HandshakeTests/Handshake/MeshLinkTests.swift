import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("11 Mesh links", .computing)
struct MeshLinkTests {
    private func members(_ count: Int, from first: UInt64 = 10) -> [Endpoint] {
        (0..<UInt64(count)).map { Endpoint(uid: UID(high: first + $0, low: 0), instance: 1) }
    }

    @Test(
        "a link joins the mesh when the data of both sides offer it [mesh.link]",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func flags(_ ours: Bool, _ theirs: Bool) throws {
        var stage = try Stage(theirFlags: theirs ? .mesh : [], ourFlags: ours ? .mesh : [])
        try stage.connect()
        let candidate = try stage.candidate()
        #expect(stage.give(candidate.id, .select).meshLinks == [ours && theirs])
    }

    @Test(
        "a plain link joins no mesh unless both sides never encrypt [mesh.plain]",
        arguments: [
            (EncryptionPreference.none, EncryptionPreference.none, true), (.none, .optional, false),
            (.optional, .none, false), (.optional, .optional, true),
        ])
    func plain(_ ours: EncryptionPreference, _ theirs: EncryptionPreference, joins: Bool) throws {
        var stage = try Stage(ours, theirFlags: .mesh, ourFlags: .mesh, theirPreference: theirs)
        try stage.connect()
        let candidate = try stage.candidate()
        #expect(stage.give(candidate.id, .select).meshLinks == [joins])
    }

    @Test(
        "HELLO lists the own mesh for peers that may join it, and for no others [hello.members]",
        arguments: [
            (EncryptionPreference.optional, EncryptionPreference.optional, true, true),
            (.optional, .optional, false, false), (.optional, .none, true, false), (.none, .none, true, true),
        ])
    func listed(
        _ ours: EncryptionPreference, _ theirs: EncryptionPreference, offers: Bool,
        isListed: Bool
    ) throws {
        var stage = try Stage(
            ours, theirFlags: offers ? .mesh : [], ourFlags: .mesh, theirPreference: theirs)
        stage.machine.meshSnapshot.members = members(3)
        try stage.connect()
        let answer = try stage.greet().ours
        let hello = try Hello(answer.span.extracting(FrameHeader.byteCount..<answer.count))
        #expect(hello.members == (isListed ? members(3) : []))
    }

    @Test(
        "two meshes that are too large together stay apart, and the attempt ends [mesh.full]",
        arguments: [(3, 3, true), (3, 4, false), (6, 0, true), (7, 0, false), (0, 6, true), (0, 7, false)])
    func full(_ ours: Int, _ theirs: Int, fits: Bool) throws {
        var stage = try Stage(theirFlags: .mesh, ourFlags: .mesh)
        stage.machine.meshSnapshot.members = members(ours)
        try stage.connect()
        let id = stage.accept()
        let listed = members(theirs, from: 50)
        let actions = stage.give(id, stage.hello { $0.members = listed })
        #expect(actions.code(of: id) == (fits ? nil : .full))
        #expect(actions.failures == (fits ? [] : [.refused(.full)]))
        #expect(stage.met == [stage.peer.endpoint])
    }

    @Test("a member that both sides know, and either side itself, is counted once [mesh.full]")
    func shared() throws {
        var stage = try Stage(theirFlags: .mesh, ourFlags: .mesh)
        stage.machine.meshSnapshot.members = members(6)
        try stage.connect()
        let id = stage.accept()
        let (we, peer) = (stage.we.endpoint, stage.peer.endpoint)
        let listed = members(6) + [we, Endpoint(uid: peer.uid, instance: 77)]
        #expect(stage.give(id, stage.hello { $0.members = listed }).code(of: id) == nil)
    }

    @Test("members listed by the peer of a direct link do not count [mesh.full]")
    func direct() throws {
        var stage = try Stage(theirFlags: .mesh)
        stage.machine.meshSnapshot.members = members(7)
        try stage.connect()
        let id = stage.accept()
        let listed = members(7, from: 50)
        #expect(stage.give(id, stage.hello { $0.members = listed }).code(of: id) == nil)
    }

    @Test(
        "a peer that sends FULL under the dialled key has been met, and the attempt ends [mesh.counted]",
        arguments: [EncryptionPreference.optional, .none])
    func saysFull(_ preference: EncryptionPreference) throws {
        var stage = try Stage(preference, weAreLower: true, theirFlags: .mesh, ourFlags: .mesh)
        let dial = try #require(try stage.connect().dials.first)
        stage.machine.secured(dial.id, stage.channel, nonce: stage.random.bytes(32), at: stage.now)
        _ = stage.machine.takeActions()
        let actions = stage.give(dial.id, .close(.full, reason: ""))
        #expect(stage.met == (preference == .none ? [] : [stage.peer.endpoint]))
        #expect(actions.failures == [.refusedByPeer(.full)])
    }

    @Test("an attempt that the mesh withdraws leaves the peer free to try again [mesh.withdraw]")
    func withdrawn() throws {
        var stage = try Stage(theirFlags: .mesh, ourFlags: .mesh)
        try stage.connect()
        let candidate = try stage.candidate()
        stage.machine.withdraw(stage.peer.endpoint.uid)
        let actions = stage.machine.takeActions()
        #expect(actions.code(of: candidate.id) == .unknownPeer)
        #expect(actions.failures == [.withdrawn])
        stage.machine.withdraw(stage.peer.endpoint.uid)
        #expect(stage.machine.takeActions().isEmpty)
    }

    @Test("mesh data is renewed after half its lifetime, and the old data stays valid [mesh.data]")
    func renewal() throws {
        var stage = try Stage(theirFlags: .mesh)
        let start = stage.now
        func issue(after delay: Duration) throws -> ConnectionData {
            try stage.machine.connectionData(
                for: nil, candidates: [Stage.address(1)], flags: .mesh, token: stage.random.bytes(32),
                at: start + delay)
        }
        let first = try issue(after: .zero)
        #expect(try issue(after: HandshakeTiming.meshRenewal - .nanoseconds(1)) == first)
        let second = try issue(after: HandshakeTiming.meshRenewal)
        #expect(second.token != first.token)
        for (delay, isGood) in [
            (HandshakeTiming.lifetime - .seconds(1), true), (HandshakeTiming.lifetime, false),
        ] {
            stage.now = start + delay
            try stage.connect()
            let id = stage.accept()
            let greeting = stage.hello { $0.yourDataReference = first.reference }
            #expect((stage.give(id, greeting).code(of: id) == nil) == isGood)
            stage.machine.cancelAll(at: stage.now)
            _ = stage.machine.takeActions()
        }
    }
}
