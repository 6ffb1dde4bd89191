import Multipeer
import MultipeerActors
import TestSupport
import Testing

@testable import sky

@Suite("Sky: the display", .computing)
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

    @Test("a line for each observatory and one for all show the progress, within the width")
    func board() throws {
        let lines = Board(try survey(), in: Terminal.Size()).lines
        #expect(lines.count == 3)
        #expect(lines[0] == "ann  ######..................  3 scanned, 1 failed, 4 in progress")
        #expect(lines[1] == "bob  ........................  0 scanned, lost with 4 tiles")
        #expect(lines[2].hasSuffix("3 of 12"))
        for columns in [1, 2, 12, 31] {
            let narrow = Board(try survey(), in: Terminal.Size(columns: columns, rows: 24))
            #expect(narrow.lines.allSatisfy { $0.columns < columns })
        }
        let low = Board(try survey(), in: Terminal.Size(columns: 80, rows: 3))
        #expect(low.lines == lines.suffix(2), "all of them can be reached, the last of them first")
    }

    @Test("a name with wide characters is cut by columns")
    func wide() throws {
        #expect(["ann", "Zoë", "Zoe\u{308}", "夜空", "🔭"].map(\.columns) == [3, 3, 3, 4, 2])
        #expect(["夜空".head(3), "夜空".padded(to: 5), "夜空".padded(to: 3)] == ["夜", "夜空 ", "夜空"])
        var survey = Survey(tiles: 8, home: try id("ann"))
        survey.join(try id(String(repeating: "夜", count: 20)))
        let lines = Board(survey, in: Terminal.Size()).lines
        #expect(lines[1].hasPrefix(String(repeating: "夜", count: 10) + "  ....."))
        #expect(lines[0].hasPrefix("ann" + String(repeating: " ", count: 19) + "....."))
        #expect(Board(survey, in: Terminal.Size(columns: 40, rows: 24)).lines.allSatisfy { $0.columns < 40 })
    }

    @Test("lines are rewritten in place, and below when the terminal has become smaller")
    func rewriting() {
        var view = View(isLive: true)
        let (wide, narrow) = (Terminal.Size(), Terminal.Size(columns: 10, rows: 24))
        let first = view.rewriting([], above: ["1234567890", "b"], in: wide)
        #expect(first == "1234567890\u{1b}[K\nb\u{1b}[K\n\u{1b}[J")
        let news = view.rewriting([String(repeating: "n", count: 90)], above: ["1234567890", "c"], in: wide)
        #expect(news.hasPrefix("\u{1b}[2A\r" + String(repeating: "n", count: 79) + "\u{1b}[K\n1234567890"))
        let smaller = view.rewriting([], above: ["123456789"], in: narrow)
        #expect(smaller == "123456789\u{1b}[K\n\u{1b}[J")
        let lower = view.rewriting([], above: ["1"], in: Terminal.Size(columns: 10, rows: 1))
        #expect(!lower.contains("A\r"))
        // For what another writes there: all lines are taken away, and come again.
        let none = view.rewriting([], above: [], in: wide)
        #expect(none == "\u{1b}[1A\r\u{1b}[J")
        let again = view.rewriting([], above: ["1"], in: wide)
        #expect(again == "1\u{1b}[K\n\u{1b}[J")
    }

    @Test("in a pipe there are no escape sequences, and nothing is cut")
    func pipe() {
        var view = View(isLive: false)
        let long = String(repeating: "n", count: 300)
        let text = view.rewriting([long], above: [], in: Terminal.Size())
        #expect(text == "\(long)\n")
    }

    @Test("other peers' texts do not move the cursor")
    func printable() throws {
        var survey = Survey(tiles: 1, home: try id("ann"), attempts: 1)
        let order = survey.next()
        _ = survey.take(.failed("no\u{1b}[2J\n\u{202E}"), of: try #require(order).number, after: .zero)
        #expect(survey.summary(after: .zero).contains("tile 0 was given up: no[2J"))
    }

    @Test("the summary shows who did what, and how long it took")
    func summary() throws {
        let lines = try survey().summary(after: .milliseconds(1_234))
        #expect(lines.first?.hasPrefix("3 stars on 3 of 12 tiles, fingerprint ") == true)
        #expect(lines.contains { $0.hasPrefix("ann") && $0.contains("10 ms each") })
        #expect(lines.last == "1234 ms in total")
    }

    @Test("the given number of tiles is cloudy at the first attempt, spread over all")
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

    @Test("the command line is parsed, or refused with a sentence")
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
            ["--peers", "1", "--service", "Not a Type"], ["--workers", "2", "--service", "BAD"],
            ["--name", ""], ["--name", String(repeating: "n", count: 100)], ["--name", "a\u{1b}b"],
            ["--workers", "0", "--kill", "1"], ["--kill", "500", "--workers", "2", "--tiles", "20"],
        ] {
            #expect(throws: Options.Wrong.self, "\(wrong)") { try Options.parse(wrong) }
        }
        #expect(try Options.parse(["--workers", "2", "--kill", "20", "--tiles", "20"]) != nil)
    }

    @Test("the last worker is slow, or this process when there are none")
    func slow() throws {
        for (words, own) in [
            ([], 9), (["--peers", "2"], 9), (["--workers", "0"], 9), (["--workers", "2"], 0),
        ] {
            let options = try #require(try Options.parse(words + ["--slow", "9"]))
            #expect(options.slowness == 9)
            #expect(options.ownSlowness == own, "\(words)")
        }
    }
}
