import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform repro`: runs one case of a report again, with the same seed, and prints the whole wire log.
enum ConformReproCommand: Subcommand {
    static let usage = Usage(
        ["repro"], operands: "REPORT ID", mostOperands: 2, "run one case of a report again",
        details: """
            REPORT is a file from 'multipeer-conform run --json', ID a case in it: for example LINK-11,
            LINK-11/tester-lower or LINK-11/tester-lower#2. Runs the case with the same seed against the same shim, and
            prints the whole wire log.
            """,
        options: [.init("--shim", "COMMAND", "use this shim instead of the one in the report")],
        exits: ConformCommand.exits, meanings: ConformCommand.meanings)

    static func run(_ arguments: Arguments) async throws(CommandError) {
        guard arguments.operands.count == 2 else {
            throw arguments.commandError("REPORT and ID are required")
        }
        let kept = try ConformCommand.saved(arguments.operands[0], arguments)
        var selection = CaseSelection()
        let words = arguments.operands[1].pieces(at: "#", atMost: 2).map(String.init)
        selection.words = [words[0]]
        guard !selection.cases.isEmpty else {
            throw arguments.commandError("unknown case '\(arguments.operands[1].printable)'")
        }
        NamespacePermission.obtain(for: selection.cases)
        var plan = TestPlan(
            shim: arguments.value("--shim") ?? kept.shim, cases: selection.cases, seed: kept.seed)
        plan.isStrict = kept.isStrict
        plan.jobs = 1
        plan.firstRepetition = words.count == 2 ? max(1, Int(words[1]) ?? 1) - 1 : 0
        try await ConformCommand.check(plan)
        let report = try await ConformCommand.report(plan)
        for outcome in report.outcomes {
            let reason = outcome.reason.isEmpty ? "" : ": \(outcome.reason)"
            try Terminal.put(
                """
                \(outcome.name): \(outcome.subject.title)
                stimulus: \(outcome.subject.stimulus)
                expected: \(outcome.subject.expectation)

                \(outcome.logText)
                \(outcome.verdict.rawValue)\(reason)

                """)
        }
        try ConformCommand.judge(report)
    }
}
