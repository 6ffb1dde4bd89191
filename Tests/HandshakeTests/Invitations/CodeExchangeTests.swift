import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("13.8 The exchange of a code", .computing)
struct CodeExchangeTests {
    @Test("INVITE follows when both ends have the same words [code.order]")
    func agreement() throws {
        var stage = try CodeStage()
        let id = try stage.connectBoth()
        let carried = try stage.converse(on: id)
        let kinds = carried.map { frame in
            switch frame {
            case .share: "SHARE"
            case .confirmation: "CONFIRMATION"
            case .invite: "INVITE"
            default: "another"
            }
        }
        #expect(kinds == ["SHARE", "SHARE", "CONFIRMATION", "CONFIRMATION", "INVITE"])
        #expect(stage.questions.map(\.isVerified) == [true])
        #expect(stage.codeEvents.isEmpty)
    }

    @Test("a wrong word ends the code at both ends, and no INVITE is sent [code.guess] [code.once]")
    func wrongWord() throws {
        var stage = try CodeStage(CodeStage.otherWords)
        let id = try stage.connectBoth()
        let carried = try stage.converse(on: id)
        #expect(carried.count == 3, "two shares and one confirmation")
        #expect(stage.inviteeCloses == [id: .wrongCode])
        #expect(stage.codeEvents == [.guessedWrong(id, isLast: true)])
        try stage.toInviter(.close(.wrongCode, reason: ""))
        #expect(stage.outcome == .wrongCode)
        // The right words come too late.
        try stage.retype(CodeStage.code)
        let late = try stage.connectBoth()
        _ = try stage.converse(on: late)
        #expect(stage.inviteeCloses[late] == .wrongCode)
        try stage.toInviter(.close(.wrongCode, reason: ""))
        #expect(stage.outcome == .unknownCode)
        #expect(stage.questions.isEmpty)
    }

    @Test("frames that are passed on between two TLS connections prove nothing [code.binding]")
    func relayed() throws {
        var stage = try CodeStage()
        let id = try stage.connectBoth(binding: 1, theirs: 2)
        _ = try stage.converse(on: id)
        #expect(stage.inviteeCloses == [id: .wrongCode])
        #expect(stage.codeEvents == [.guessedWrong(id, isLast: true)])
        #expect(stage.questions.isEmpty)
    }

    @Test("of many exchanges at once, the first wrong guess ends all [code.once]")
    func manyAtOnce() throws {
        var stage = try CodeStage()
        var guesses: [(ConnectionID, Frame)] = []
        for (number, word) in ["castle", "garden", "candle", "island"].enumerated() {
            let id = stage.connect(binding: UInt8(number), from: [198, 51, 100, UInt8(number)])
            let guess = try stage.guess(.fixed("7-guitar-\(word)"), binding: UInt8(number), on: id)
            guesses.append((id, try #require(guess.confirmation)))
        }
        for (id, confirmation) in guesses { try stage.toInvitee(confirmation, on: id) }
        #expect(stage.codeEvents == [.guessedWrong(guesses[0].0, isLast: true)])
        for (id, _) in guesses {
            #expect(stage.inviteeCloses[id] == .wrongCode)
            #expect(try stage.fromInvitee(on: id).isEmpty, "even the right one is refused")
        }
    }

    @Test("a code that stays is paused for longer after each wrong guess in a row [code.repeated]")
    func repeated() throws {
        var stage = try CodeStage(valid: .repeated)
        for seconds in [2, 4, 8, 16, 32, 60, 60] {
            let id = stage.connect()
            let guess = try stage.guess(CodeStage.otherWords, on: id)
            try stage.toInvitee(try #require(guess.confirmation), on: id)
            #expect(stage.codeEvents.last == .guessedWrong(id, isLast: false))
            stage.now = stage.now + .milliseconds(1_000 * seconds - 1)
            let early = stage.connect()
            #expect(try stage.guess(CodeStage.code, on: early).confirmation == nil)
            #expect(stage.inviteeCloses[early] == .busy)
            stage.now = stage.now + .milliseconds(1)
        }
        // A right one resets the count.
        try stage.retype(CodeStage.code)
        let id = try stage.connectBoth()
        _ = try stage.converse(on: id)
        #expect(stage.questions.count == 1)
        let wrong = stage.connect(from: [198, 51, 100, 1])
        let guess = try stage.guess(CodeStage.otherWords, on: wrong)
        try stage.toInvitee(try #require(guess.confirmation), on: wrong)
        stage.now = stage.now + .seconds(2)
        let next = stage.connect(from: [198, 51, 100, 2])
        #expect(try stage.guess(CodeStage.code, on: next).confirmation != nil)
    }

    @Test("an invitee with a code refuses INVITE without it [code.required]", arguments: [false, true])
    func required(_ hasShared: Bool) throws {
        var stage = try CodeStage()
        let id = stage.connect()
        if hasShared { _ = try stage.guess(CodeStage.code, on: id) }
        let invite = Invite(
            id: [UInt8](repeating: 7, count: 16), inviter: stage.ann.uid, inviterName: "Ann",
            recipient: stage.bob.uid, timeout: 30)
        try stage.toInvitee(.invite(invite), on: id)
        #expect(stage.questions.isEmpty)
        if hasShared {
            #expect(stage.inviteeCloses[id] == .protocolError)
        } else {
            #expect(
                try stage.fromInvitee(on: id) == [.answer(Answer(id: invite.id, code: .codeRequired))])
        }
    }

    @Test("an inviter without a code learns that one is required [code.required]")
    func withoutCode() throws {
        var stage = try CodeStage(nil)
        let id = try stage.connectBoth()
        let carried = try stage.converse(on: id)
        #expect(carried.last == .answer(Answer(id: [UInt8](repeating: 7, count: 16), code: .codeRequired)))
        #expect(stage.outcome == .codeRequired || stage.isInviterOver)
    }

    @Test("a code that the invitee does not have is not a guess [code.mismatch]", arguments: [true, false])
    func unknown(_ hasCode: Bool) throws {
        var stage = try CodeStage(.fixed("8-guitar-island"), for: hasCode ? CodeStage.code : nil)
        let id = try stage.connectBoth()
        _ = try stage.converse(on: id)
        #expect(stage.inviteeCloses == [id: .wrongCode])
        #expect(stage.codeEvents.isEmpty)
        try stage.toInviter(.close(.wrongCode, reason: ""))
        #expect(stage.outcome == .unknownCode)
    }

    @Test("a share that is no point is a violation, and not a guess [code.point]")
    func invalidPoints() throws {
        var stage = try CodeStage()
        let id = stage.connect()
        try stage.toInvitee(.share(code: 7, point: [4] + [UInt8](repeating: 1, count: 64)), on: id)
        #expect(stage.inviteeCloses == [id: .protocolError])
        #expect(stage.codeEvents.isEmpty)
        _ = try stage.connectBoth()
        try stage.toInviter(.share(code: 7, point: [UInt8](repeating: 0, count: 65)))
        #expect(stage.outcome == .protocolError)
    }
}
