import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("Runs of the conformance suite", .inTurns, .serialized)
struct TestRunnerTests {
    /// This package's shim, beside the test bundle.
    private static let shim = "\(program) shim"
    private static let program: String = {
        let folder = URL(filePath: ChildProcess.ownPath).deletingLastPathComponent()
        return "'\(folder.appending(path: "multipeer-conform").path)'"
    }()

    private static func run(
        _ ids: [String], shim: String = TestRunnerTests.shim, _ change: (inout TestPlan) -> Void = { _ in }
    ) async throws -> [CaseOutcome] {
        var selection = CaseSelection()
        selection.words = ids
        var plan = TestPlan(shim: shim, cases: selection.cases, seed: 1)
        change(&plan)
        return try await Worker("conform").run { [plan] () throws(CommandError) in TestRunner(plan)() }
    }

    @Test("the library passes cases of each section", .timeLimit(.minutes(3)))
    func passes() async throws {
        let outcomes = try await TestRunnerTests.run([
            "DATA-01", "DATA-05", "ENC-0?", "ENC-16", "LINK-01", "LINK-11", "LINK-18", "FRM-0?", "MSG-01",
            "MSG-10",
        ])
        #expect(outcomes.count > 30)
        for outcome in outcomes { #expect(outcome.verdict == .pass, "\(outcome.name): \(outcome.reason)") }
    }

    @Test("a subject that does not answer fails, and so does one that cannot be started")
    func silent() async throws {
        for shim in ["true", "/nonexistent"] {
            let outcomes = try await TestRunnerTests.run(["LINK-01/tester-lower"], shim: shim)
            #expect(outcomes.map(\.verdict) == [.fail], "\(shim): \(outcomes.map(\.reason))")
        }
    }

    @Test(
        "a fault is caught only by the text that its case names, not by other text or a process that ends",
        arguments: [
            ("peer --bug mac-role-wrong", true), ("peer --bug mac-unchecked", false),
            ("", false),
        ])
    func convicts(_ words: String, isCaught: Bool) async throws {
        var selection = CaseSelection()
        selection.words = ["LINK-12/tester-lower"]
        let selftest = Selftest(bugs: ["mac-role-wrong"], cases: selection.cases)
        let findings = try await Worker("selftest").run { () throws(CommandError) in
            selftest.run(
                seed: 1, jobs: 1,
                shim: { _ in words.isEmpty ? "true" : "\(TestRunnerTests.program) \(words)" },
                tell: { _ in })
        }
        #expect(findings.map(\.isCaught) == [isCaught])
        #expect(findings.allSatisfy { $0.outcomes.map(\.verdict) == [.fail] })
    }

    @Test("a case on the list of skips is not run, and the reason is reported")
    func skips() async throws {
        let outcomes = try await TestRunnerTests.run(["LINK-01/tester-lower"]) {
            $0.skips = ["LINK-01": "for a reason"]
        }
        #expect(outcomes.map(\.verdict) == [.skip])
        #expect(outcomes.map(\.reason) == ["for a reason"])
    }

    @Test("an operation that the shim does not know skips the case")
    func unimplemented() async throws {
        let loop = #"while read line; do echo "{\"re\":1,\"unimplemented\":true}"; done"#
        let outcomes = try await TestRunnerTests.run(["LINK-01/tester-lower"], shim: "/bin/sh -c '\(loop)'")
        #expect(outcomes.map(\.verdict) == [.skip])
    }
}

@Suite("Reports of the conformance suite", .inTurns)
struct ReportTests {
    private static func report() throws -> Report {
        let one = try #require(Suite.cases.first { $0.id == "LINK-11" })
        let log = TrafficLog()
        log.add(.sent, "<b>\"&\u{1b}")
        let outcomes = [(UIDOrder.testerLower, CaseVerdict.pass, ""), (.testerHigher, .fail, "a | b < c")].map
        {
            CaseOutcome(
                subject: one, order: $0, repetition: 0, verdict: $1, reason: $2, isOfProcess: false,
                seconds: 0.5, log: log.lines)
        }
        return Report(Report.Invocation(shim: "multipeer-conform shim", seed: 7, isStrict: false), outcomes)
    }

    @Test("each format names the case that failed, what was expected and what was received")
    func forms() throws {
        let report = try ReportTests.report()
        let expected = report.outcomes[0].subject.expectation
        #expect(report.text.contains("LINK-11/tester-higher"))
        #expect(report.text.contains(expected))
        #expect(report.text.contains("1 PASS, 1 FAIL; seed 7"))
        #expect(report.markdown.contains("a \\| b < c"))
        #expect(report.junit.contains("failures=\"1\""))
        #expect(report.junit.contains("a | b &lt; c"))
        let page = try #require(report.pages.first { $0.name == "LINK-11-tester-higher.html" })
        #expect(page.text.contains("&lt;b&gt;&quot;&amp;\u{fffd}"))
        #expect(report.pages.first?.text.contains("LINK-11-tester-lower.html") == true)
    }

    @Test("a report in JSON can be read again, with the log of what failed")
    func json() throws {
        let kept = try JSONDecoder().decode(SavedReport.self, from: Data(try ReportTests.report().json()))
        #expect(kept.seed == 7)
        #expect(kept.counts["FAIL"] == 1)
        #expect(kept.cases.map(\.verdict) == ["PASS", "FAIL"])
        #expect(kept.cases[0].log == nil)
        #expect(kept.cases[1].log?.count == 1)
    }
}
