import Multipeer
import MultipeerActors
import Testing

@testable import sky

@Suite("Sky: what is shown")
struct ViewTests {
    private func id(_ name: String) throws -> ActorID {
        try ActorID("observatory", at: PeerID(displayName: name))
    }

    private func survey() throws -> Survey<ActorID> {
        let ann = try id("ann")
        var survey = Survey(tiles: 12, home: ann)
        let bob = try id("bob")
        survey.join(bob)
        for number in 1...4 {
            guard let order = survey.next() else { break }
            let stars = [Star(x: 1, y: 1, light: 9)]
            let outcome: Survey<ActorID>.Outcome =
                number == 3 ? .failed("no") : .found(Findings(tile: order.tile, stars: stars))
            _ = survey.take(outcome, of: order.number, after: .milliseconds(10))
        }
        _ = survey.next()
        while survey.next() != nil {}
        survey.lose(bob)
        return survey
    }

    @Test("a line for each observatory and one for all say how far it is, in the width there is")
    func board() throws {
        let lines = Board(try survey(), width: 79).lines
        #expect(lines.count == 3)
        #expect(lines[0] == "ann  ######..................  3 scanned, 1 failed, 4 in hand")
        #expect(lines[1] == "bob  ........................  0 scanned, lost with 4")
        #expect(lines[2].hasSuffix("3 of 12"))
        #expect(Board(try survey(), width: 30).lines.allSatisfy { $0.count <= 30 })
    }

    @Test("what somebody else says does not move the cursor")
    func printable() throws {
        var survey = Survey(tiles: 1, home: try id("ann"), attempts: 1)
        let order = survey.next()
        _ = survey.take(.failed("no\u{1b}[2J\n\u{202E}"), of: try #require(order).number, after: .zero)
        #expect(survey.summary(after: .zero).contains("tile 0 was given up: no[2J"))
    }

    @Test("the summary says who did what, and how long it took")
    func summary() throws {
        let lines = try survey().summary(after: .milliseconds(1_234))
        #expect(lines.first?.hasPrefix("3 stars on 3 of 12 tiles, fingerprint ") == true)
        #expect(lines.contains { $0.hasPrefix("ann") && $0.contains("10 ms each") })
        #expect(lines.last == "1234 ms in all")
    }

    @Test("so many tiles are cloudy, spread over all, the first time")
    func clouds() {
        for failures in [0, 1, 5, 12, 20] {
            var plan = Plan()
            (plan.tiles, plan.failures, plan.size) = (12, failures, 16)
            let cloudy = (0..<12).filter(plan.isCloudy)
            #expect(cloudy.count == min(12, failures))
            #expect(cloudy.allSatisfy { plan.task(for: $0, attempt: 1).isCloudy })
            #expect(cloudy.allSatisfy { !plan.task(for: $0, attempt: 2).isCloudy })
        }
    }

    @Test("what the command line asks for is understood, or refused with a sentence")
    func options() throws {
        let words = [
            "--workers", "2", "--tiles", "9", "--size", "32", "--wait", "0", "--fail", "1", "--kill", "3",
        ]
        let options = try #require(try Options.parse(words))
        #expect(options.plan.people == 2)
        #expect(options.plan.tiles == 9)
        #expect(options.plan.killsAfter == 3)
        #expect(try Options.parse(["--workers", "2", "--help"]) == nil)
        for wrong in [
            ["--tiles", "0"], ["--size", "15"], ["--wait", "-1"], ["--kill", "1"], ["--workers"], ["sky"],
        ] {
            #expect(throws: Options.Wrong.self) { try Options.parse(wrong) }
        }
    }
}
