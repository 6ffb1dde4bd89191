import Foundation
import MultipeerCommandLine
import TestSupport
import Testing

@testable import MultipeerConformance

@Suite("Runs of the conformance suite", .inTurns, .serialized)
struct TestRunnerTests {
    /// This package's shim, beside the test bundle.
    private static let shim = "\(program) shim"
    static let program: String = {
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

    @Test("the library passes cases of each section")
    func passes() async throws {
        let outcomes = try await TestRunnerTests.run([
            "DATA-01", "DATA-05", "ENC-0?", "ENC-16", "LINK-01", "LINK-11", "LINK-18", "FRM-0?", "MSG-01",
            "MSG-10",
        ])
        #expect(outcomes.count > 30)
        for outcome in outcomes { #expect(outcome.verdict == .pass, "\(outcome.name): \(outcome.reason)") }
    }

    @Test("a case with interfaces of its own passes, or is skipped and says that there is no namespace")
    func namespace() async throws {
        let outcomes = try await TestRunnerTests.run(["DATA-27", "DATA-30/tester-lower", "LIM-15", "DNS-21"])
        let expected: CaseVerdict = NetworkNamespace.isPermitted ? .pass : .skip
        #expect(outcomes.map(\.verdict) == [CaseVerdict](repeating: expected, count: 4))
        #expect(outcomes.allSatisfy { $0.reason.isEmpty == (expected == .pass) })
    }

    @Test("what a case has opened is released at its end")
    func released() async throws {
        let isReleased = try await Worker("conform").run { () throws(CommandError) in
            weak var ended: CaseRun?
            do {
                let caseRun = CaseRun(
                    .testerLower, shim: TestRunnerTests.shim, random: SplitMix64(seed: 1, name: "released"))
                ended = caseRun
                defer { caseRun.quit() }
                let (pair, _) = try caseRun.linked(.init(preference: .required))
                try pair.session.send([1], to: pair.tester.endpoint.uid)
            } catch {
                throw CommandError("\(error)", exit: .linkFailed)
            }
            return ended == nil
        }
        #expect(isReleased)
    }

    @Test("a fault that the machine cannot show is skipped, and not missed")
    func skippedFault() {
        let one = Suite.cases[0]
        let check = Selftest.FaultCheck(bug: one.bugs[0], subject: one)
        func result(_ verdicts: [CaseVerdict]) -> Selftest.FaultCheckResult {
            let outcomes = verdicts.map {
                CaseOutcome(
                    subject: one, order: .testerLower, repetition: 0, verdict: $0, reason: "",
                    isOfProcess: false, seconds: 0, log: [])
            }
            return Selftest.FaultCheckResult(check: check, isCaught: false, outcomes: outcomes)
        }
        #expect(result([.skip, .skip]).isSkipped)
        #expect(!result([.skip, .pass]).isSkipped)
        #expect(!result([]).isSkipped)
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
