import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import TestSupport
import Testing

@Suite("12.9 Inviters with keyed uids", .computing)
struct KeyedInviterTests {
    private let ann: PeerID
    private let other: UID

    init() throws {
        let uid = try #require(UID.keyed([UInt8](repeating: 1, count: 16)))
        ann = try PeerID(validating: uid, displayName: "ann")
        other = try #require(UID.keyed([UInt8](repeating: 2, count: 16)))
    }

    @Test(
        "without the key of its uid an inviter gets POLICY, and no one is asked [uid.proof]",
        arguments: [true, false])
    func unproven(_ hasKey: Bool) throws {
        var stage = try InviteeStage()
        let id = stage.connect(from: 1, proving: hasKey ? other : nil)
        stage.say(.invite(ann.invitation(to: stage.bob)), on: id)
        #expect(try stage.answers(on: id) == [.policy])
        #expect(stage.asked.isEmpty && stage.pendingCount == 0)
    }

    @Test("with it, the application is asked, and an unproven one does not take its place [uid.proof]")
    func proven() throws {
        var stage = try InviteeStage()
        let id = stage.connect(from: 1, proving: ann.uid)
        stage.say(.invite(ann.invitation(to: stage.bob)), on: id)
        #expect(stage.asked.map(\.inviter) == [ann])
        let impostor = stage.connect(from: 1, proving: other)
        stage.say(.invite(ann.invitation(to: stage.bob)), on: impostor)
        #expect(try stage.answers(on: impostor) == [.policy])
        #expect(stage.asked.count == 1 && stage.closes(of: id).isEmpty)
    }
}
