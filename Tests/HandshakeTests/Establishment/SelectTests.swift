import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import TestSupport
import Testing

@Suite("6.4 SELECT", .computing)
struct SelectTests {
    private static let select = Stage.bytes(.select)

    @Test(
        "only the lower uid sends SELECT; from the higher one it is refused [select.lower]"
    )
    func lower() throws {
        var lower = try Stage(weAreLower: true)
        try lower.connect()
        let ours = try lower.candidate()
        #expect(ours.actions.sent(on: ours.id) == [SelectTests.select])
        #expect(lower.give(ours.id, .select).code(of: ours.id) == .protocolError)

        var higher = try Stage(weAreLower: false)
        try higher.connect()
        let theirs = try higher.candidate()
        #expect(theirs.actions.sent(on: theirs.id).isEmpty)
        #expect(higher.give(theirs.id, .selected).code(of: theirs.id) == .protocolError)
    }

    @Test(
        "SELECT and SELECTED before the connection is a candidate are refused [select.lower]",
        arguments: [true, false])
    func early(_ weAreLower: Bool) throws {
        var stage = try Stage(weAreLower: weAreLower)
        try stage.connect()
        let greeting = try stage.greet()
        #expect(
            stage.give(greeting.id, weAreLower ? .selected : .select).code(of: greeting.id) == .protocolError)
    }

    @Test(
        "one of several candidates is selected at a time, and the others are closed as DUPLICATE [select.one] [select.duplicates]"
    )
    func one() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let candidates = try [stage.candidate(), stage.candidate(), stage.candidate()]
        #expect(candidates.map { $0.actions.sent(on: $0.id).count } == [1, 0, 0])
        let actions = stage.give(candidates[0].id, .selected)
        #expect(actions.links == [candidates[0].id])
        #expect(
            actions.code(of: candidates[1].id) == .duplicate
                && actions.code(of: candidates[2].id) == .duplicate)
    }

    @Test(
        "SELECTED on a candidate that was not selected is refused, and the selected one is kept [select.one]")
    func otherSelected() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let (first, second) = try (stage.candidate(), stage.candidate())
        #expect(stage.give(second.id, .selected).code(of: second.id) == .protocolError)
        #expect(stage.give(first.id, .selected).links == [first.id])
    }

    @Test(
        "a dial in progress ends when the link is made, at both ends [select.duplicates]",
        arguments: [true, false])
    func dials(_ weAreLower: Bool) throws {
        var stage = try Stage(weAreLower: weAreLower)
        let dial = try #require(try (stage.connect() + stage.wait(.seconds(1)).map(\.action)).dials.first)
        let candidate = try stage.candidate()
        let actions = stage.give(candidate.id, weAreLower ? .selected : .select)
        #expect(actions.links == [candidate.id] && actions.code(of: dial.id) == .duplicate)
        #expect(stage.wait(.seconds(60)).isEmpty)
    }

    @Test("SELECT is answered with SELECTED, which makes the link [select.answer]")
    func answer() throws {
        var stage = try Stage(weAreLower: false)
        try stage.connect()
        let candidate = try stage.candidate()
        let actions = stage.give(candidate.id, .select)
        #expect(actions.sent(on: candidate.id) == [Stage.bytes(.selected)] && actions.links == [candidate.id])
    }

    @Test("when the selected connection is lost or closed, the next candidate is selected [select.next]")
    func next() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let candidates = try [stage.candidate(), stage.candidate(), stage.candidate()]
        stage.machine.lost(candidates[0].id, .lost, at: stage.now)
        #expect(stage.machine.takeActions() == [.send(candidates[1].id, SelectTests.select)])
        let closed = stage.give(candidates[1].id, .close(.duplicate, reason: ""))
        #expect(closed.sent(on: candidates[2].id) == [SelectTests.select])
        #expect(stage.give(candidates[2].id, .selected).links == [candidates[2].id])
    }

    @Test(
        "a selected connection that is silent for 5 s is replaced by the next [select.next] [link.timeouts]")
    func silent() throws {
        var stage = try Stage(weAreLower: true)
        try stage.connect()
        let first = try stage.candidate()
        _ = stage.wait(.seconds(4))
        let second = try stage.candidate()
        let later = stage.wait(.milliseconds(1_000))
        #expect(later.map(\.action).code(of: first.id) == .timeout)
        #expect(later.map(\.action).sent(on: second.id) == [SelectTests.select])
        #expect(stage.give(second.id, .selected).links == [second.id])
    }
}
