import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform selftest`: whether the suite finds the faults that it says it finds.
enum ConformSelftestCommand: Subcommand {
    static let usage = Usage(
        ["selftest"], operands: "[IDS|GLOBS…]", mostOperands: 1_000,
        "try the conformance suite against peers that are broken on purpose",
        details: """
            Runs the suite's own peer, 'multipeer-conform peer', once without a fault and once with each of its faults.
            Without one it must pass every case. Each fault must be caught by each case that names it: the case fails, in
            the words that it names if it names any, and not just because the process ended.
            """,
        options: ConformCommand.choosing + [
            .init(
                "--bug", "NAME", isRepeatable: true, "only this fault; without a fault nothing else is run"),
            .init("--markdown", "FILE", "write down by what each fault was caught"),
            .init("--seed", "N", "what the suite draws by lot; default: drawn by lot"),
            .init("--jobs", "N", "run so many cases at a time, 1 to 64; default: 4"),
        ],
        exits: ConformCommand.exits, meanings: ConformCommand.meanings)

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let cases = try ConformCommand.selection(arguments).cases
        let wanted = arguments.values("--bug")
        if let name = wanted.first(where: { Bug(rawValue: $0) == nil }) {
            throw arguments.commandError("there is no fault '\(name.printable)'")
        }
        let seed = try ConformCommand.seed(arguments)
        let jobs = try arguments.number("--jobs", in: 1...64) ?? 4
        let bugs = wanted.isEmpty ? Bug.allCases.map(\.rawValue) : wanted
        let selftest = Selftest(bugs: bugs, cases: cases)
        let shim = "'\(ChildProcess.ownPath)' peer"
        let faultless = wanted.isEmpty ? try await withoutFault(cases, shim, seed, jobs) : nil
        let findings = try await Worker("selftest").run { () throws(CommandError) in
            selftest.run(seed: seed, jobs: jobs, shim: { "\(shim) --bug \($0)" }) { finding in
                guard !finding.isCaught else { return }
                let check = finding.check
                Terminal.show(
                    "missed  \(check.bug.name)  \(check.subject.id)  \(finding.words.printable)\n")
            }
        }
        if let path = arguments.value("--markdown") {
            try AtomicFile.write(Array(table(findings).utf8), to: path, replacing: true)
        }
        let missed = findings.count { !$0.isCaught }
        try Terminal.put("\(findings.count - missed) of \(findings.count) faults caught; seed \(seed)\n")
        if wanted.isEmpty, !selftest.unnamed.isEmpty {
            try Terminal.put("named by no case: \(selftest.unnamed.joined(separator: ", "))\n")
        }
        if wanted.isEmpty, !selftest.unknown.isEmpty {
            try Terminal.put(
                "named, and the peer does not have it: \(selftest.unknown.joined(separator: ", "))\n")
        }
        guard missed == 0 else {
            throw CommandError("\(missed) of \(findings.count) faults were missed", exit: .linkFailed)
        }
        if let faultless { try ConformCommand.judge(faultless) }
    }

    private static func withoutFault(
        _ cases: [Case], _ shim: String, _ seed: UInt64, _ jobs: Int
    ) async throws(CommandError) -> Report {
        var plan = TestPlan(shim: shim, cases: cases, seed: seed)
        plan.jobs = jobs
        let report = try await ConformCommand.report(plan)
        try Terminal.put("without a fault: \(report.summary)\n")
        return report
    }

    /// By what each fault was caught.
    private static func table(_ findings: [Selftest.FaultCheckResult]) -> String {
        let rows = findings.map { finding in
            let cells = [
                finding.check.bug.name, finding.check.subject.id, finding.isCaught ? "yes" : "**no**",
                finding.words.printable.replacingOccurrences(of: "|", with: "\\|"),
            ]
            return "| \(cells.joined(separator: " | ")) |\n"
        }
        return "| fault | case | caught | the case said |\n|---|---|---|---|\n" + rows.joined()
    }
}
