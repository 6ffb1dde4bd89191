import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("13.8 How the exchange of a code ends", .computing)
struct CodeEndTests {
    /// What ends ann's connection after she has sent her confirmation.
    enum Ending: CaseIterable {
        case lost, close, busy, wrong, outOfOrder, deadline, cancelled
    }

    @Test(
        "after the inviter's confirmation, everything but the right answer is a wrong guess [code.guess]",
        arguments: Ending.allCases)
    func afterConfirmation(_ ending: Ending) throws {
        var stage = try CodeStage()
        let id = try stage.connectBoth()
        for frame in try stage.fromInviter() { try stage.toInvitee(frame, on: id) }
        for frame in try stage.fromInvitee(on: id) { try stage.toInviter(frame) }
        #expect(try stage.fromInviter().count == 1)
        switch ending {
        case .lost: stage.inviter.lost(stage.line, .lost, at: stage.now)
        case .close: try stage.toInviter(.close(.cancelled, reason: ""))
        case .busy: try stage.toInviter(.close(.busy, reason: ""))
        case .wrong: try stage.toInviter(.confirmation([UInt8](repeating: 0, count: 32)))
        case .outOfOrder: try stage.toInviter(.share(code: 7, point: [UInt8](repeating: 0, count: 65)))
        case .deadline: stage.inviter.advance(to: stage.now + .seconds(5))
        case .cancelled: stage.inviter.cancel(at: stage.now)
        }
        try stage.turn()
        #expect(stage.outcome == .wrongCode)
        #expect(stage.isInviterOver)
    }

    @Test("before the inviter's confirmation, nothing was given away: it tries again [code.guess]")
    func beforeConfirmation() throws {
        var stage = try CodeStage()
        _ = try stage.connectBoth()
        stage.inviter.lost(stage.line, .lost, at: stage.now)
        try stage.turn()
        #expect(stage.outcome == nil)
        stage.now = stage.now + .seconds(1)
        stage.inviter.advance(to: stage.now)
        try stage.turn()
        _ = try stage.fromInviter()
        let id = try stage.connectBoth()
        _ = try stage.converse(on: id)
        #expect(stage.questions.count == 1)
    }

    @Test(
        "an invitee that is silent after SHARE times out, and the inviter does not wait longer [invite.deadline]"
    )
    func silence() throws {
        var stage = try CodeStage()
        _ = try stage.connectBoth()
        stage.inviter.advance(to: stage.now + .seconds(5))
        try stage.turn()
        #expect(stage.outcome == .timedOut)
    }

    @Test("connections that end during the exchange are not guesses, however many [code.guess]")
    func abandoned() throws {
        var stage = try CodeStage()
        for number in 0..<100 {
            let id = stage.connect(from: [198, 51, 100, UInt8(number)])
            #expect(try stage.guess(CodeStage.otherWords, on: id).confirmation != nil)
            stage.invitee.lost(id, .lost, at: stage.now)
        }
        #expect(stage.codeEvents.isEmpty)
        let id = try stage.connectBoth()
        _ = try stage.converse(on: id)
        #expect(stage.questions.count == 1)
    }

    @Test("a one-time code ends when an invitation is complete [code.once]")
    func used() throws {
        let cast = try CodeCast()
        var stage = try CodeStage()
        let id = try stage.connectBoth()
        _ = try stage.converse(on: id)
        let question = try #require(stage.questions.first).question
        // Another peer with the same code waits, until it is used.
        let second = stage.connect(from: [198, 51, 100, 1])
        let guess = try stage.guess(CodeStage.code, on: second)
        try stage.toInvitee(try #require(guess.confirmation), on: second)
        let other = Invite(
            id: [UInt8](repeating: 9, count: 16), inviter: UID(high: 0, low: 3), inviterName: "Cid",
            recipient: stage.bob.uid, timeout: 30)
        let third = stage.connect(from: [198, 51, 100, 2])
        let thirds = try stage.guess(CodeStage.code, on: third)
        try stage.toInvitee(try #require(thirds.confirmation), on: third)
        _ = try stage.fromInvitee(on: third)
        try stage.toInvitee(.invite(other), on: third)
        #expect(try stage.fromInvitee(on: third) == [.answer(Answer(id: other.id, code: .busy))])

        try stage.invitee.accept(question, with: cast.bobs, at: stage.now)
        let complete = Complete(id: [UInt8](repeating: 7, count: 16), connectionData: cast.anns.bytes)
        try stage.toInvitee(.complete(complete), on: id)
        #expect(stage.codeEvents == [.used])
        #expect(stage.inviteeCloses[second] == .wrongCode)
        let late = stage.connect()
        #expect(try stage.guess(CodeStage.code, on: late).confirmation == nil)
        #expect(stage.inviteeCloses[late] == .wrongCode)
    }

    @Test("a password depends on the words and the number [code.password]")
    func passwords() throws {
        let seven = try CodeProof(CodeStage.code)
        #expect(try CodeProof(.fixed("7-GUITAR island")) == seven)
        #expect(try CodeProof(.fixed("8-guitar-island")) != seven)
        #expect(try CodeProof(.fixed("7-island-guitar")) != seven)
        #expect(try CodeProof(.fixed("7-guitar-island-candle")) != seven)
    }

    @Test("frames of the exchange out of order are violations [code.order]")
    func order() throws {
        var stage = try CodeStage()
        let confirming = stage.connect()
        try stage.toInvitee(.confirmation([UInt8](repeating: 0, count: 32)), on: confirming)
        #expect(stage.inviteeCloses[confirming] == .protocolError)
        let twice = stage.connect()
        _ = try stage.guess(CodeStage.code, on: twice)
        try stage.toInvitee(.share(code: 7, point: [UInt8](repeating: 0, count: 65)), on: twice)
        #expect(stage.inviteeCloses[twice] == .protocolError)
        #expect(stage.codeEvents.isEmpty)
        var other = try CodeStage()
        _ = try other.connectBoth()
        try other.toInviter(.confirmation([UInt8](repeating: 0, count: 32)))
        #expect(other.outcome == .protocolError)
    }
}

/// The connection data of ann and bob for each other.
private struct CodeCast {
    let anns: ConnectionData
    let bobs: ConnectionData

    init() throws {
        let (ann, bob) = (try PeerID.numbered(1), try PeerID.numbered(2))
        anns = try ann.made(for: bob)
        bobs = try bob.made(for: ann)
    }
}
