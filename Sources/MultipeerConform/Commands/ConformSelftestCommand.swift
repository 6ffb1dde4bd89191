import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform selftest`: whether the suite finds the faults that its cases name.
enum ConformSelftestCommand: Subcommand {
    static let usage = Usage(
        ["selftest"], operands: "[IDS|GLOBS…]", mostOperands: 1_000,
        "run the conformance suite against peers with deliberate faults",
        details: """
            Runs the reference peer, 'multipeer-conform peer', once without a fault and once with each of its faults.
            Without a fault it must pass every case. Each fault must be caught by each case that names it: the case must
            fail, with the message that it names, if any, and not just because the process ended.

            With --matrix, instead tries each fault with all quick cases of the sections in which cases name it, and writes
            which fail. With --outside, instead judges the peer over the network, as 'probe' does: each case that is judged
            there must find a fault.
            """,
        options: ConformCommand.choosing + [
            .init(
                "--bug", "NAME", words: Bug.allCases.map(\.rawValue), isRepeatable: true,
                "run only this fault, and skip the run without a fault"),
            .init("--markdown", "FILE", "write a table of how each fault was caught"),
            .init("--matrix", "FILE", "write as JSON which cases fail with each fault"),
            .init("--outside", "judge over the network"),
            .init("--seed", "N", "random seed; default: random"),
            .init("--jobs", "N", "run N cases in parallel, 1 to 64; default: 4"),
        ],
        exits: ConformCommand.exits, meanings: ConformCommand.meanings)

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let cases = try ConformCommand.selection(arguments).cases
        let wanted = arguments.values("--bug")
        if let name = wanted.first(where: { Bug(rawValue: $0) == nil }) {
            throw arguments.commandError("unknown fault '\(name.printable)'")
        }
        let seed = try ConformCommand.seed(arguments)
        let jobs = try arguments.number("--jobs", in: 1...64) ?? 4
        let bugs = wanted.isEmpty ? Bug.allCases.map(\.rawValue) : wanted
        NamespacePermission.obtain(for: cases)
        if let path = arguments.value("--matrix") { return try await write(path, bugs, cases, seed, jobs) }
        if arguments.has("--outside") { return try await judgeOutside(cases, seed, jobs) }
        let selftest = Selftest(bugs: bugs, cases: cases)
        let shim = "'\(ChildProcess.ownPath)' peer"
        let faultless = wanted.isEmpty ? try await withoutFault(cases, shim, seed, jobs) : nil
        let findings = try await Worker("selftest").run { () throws(CommandError) in
            selftest.run(seed: seed, jobs: jobs, shim: { "\(shim) --bug \($0)" }) { finding in
                guard !finding.isCaught else { return }
                let check = finding.check
                Terminal.show(
                    "\(finding.isSkipped ? "skipped" : "missed")  \(check.bug.name)  \(check.subject.id)  \(finding.words.printable)\n"
                )
            }
        }
        if let path = arguments.value("--markdown") {
            try AtomicFile.publish(Array(table(findings).utf8), to: path)
        }
        let skipped = findings.count { $0.isSkipped }
        let missed = findings.count { !$0.isCaught && !$0.isSkipped }
        let caught = findings.count - missed - skipped
        let rest = skipped > 0 ? ", \(skipped) skipped" : ""
        try Terminal.put("\(caught) of \(findings.count) faults caught\(rest); seed \(seed)\n")
        if wanted.isEmpty, !selftest.unnamed.isEmpty {
            try Terminal.put("faults that no case names: \(selftest.unnamed.joined(separator: ", "))\n")
        }
        if wanted.isEmpty, !selftest.unknown.isEmpty {
            try Terminal.put(
                "faults that the peer does not have: \(selftest.unknown.joined(separator: ", "))\n")
        }
        guard missed == 0 else {
            throw CommandError("\(missed) of \(findings.count) faults were missed", exit: .linkFailed)
        }
        if let faultless { try ConformCommand.judge(faultless) }
    }

    /// Writes which cases fail with each fault.
    private static func write(
        _ path: String, _ bugs: [String], _ cases: [Case], _ seed: UInt64, _ jobs: Int
    ) async throws(CommandError) {
        let shim = "'\(ChildProcess.ownPath)' peer"
        let matrix = try await Worker("matrix").run { () throws(CommandError) in
            FaultMatrix(bugs: bugs, cases: cases, seed: seed, jobs: jobs, shim: { "\(shim) --bug \($0)" }) {
                let words =
                    $1.isExchangePossible ? $1.others.joined(separator: " ") : "no exchange is possible"
                Terminal.show("\($0)  \($1.named.joined(separator: " "))  \(words)\n")
            }
        }
        guard let bytes = try? matrix.json() else { throw CommandError("cannot write JSON", exit: .system) }
        try AtomicFile.publish(bytes, to: path)
        let rows = matrix.faults.values
        try Terminal.put(
            "\(rows.count) faults: \(rows.count { $0.failing.count == 1 }) fail in one case alone, "
                + "\(rows.count { $0.others.isEmpty }) only in cases that name them, "
                + "\(rows.count { !$0.isExchangePossible }) in every link\n")
    }

    /// Whether each case that is judged from outside finds a fault there.
    private static func judgeOutside(_ cases: [Case], _ seed: UInt64, _ jobs: Int) async throws(CommandError)
    {
        let findings = try await Worker("outside").run { () throws(CommandError) in
            OutsideSelftest.run(cases, program: "'\(ChildProcess.ownPath)'", seed: seed, jobs: jobs) {
                guard !$0.isCaught else { return }
                Terminal.show("not seen  \($0.bug)  \($0.id)  \($0.words.printable)\n")
            }
        }
        let ids = Set(findings.map(\.id))
        let convicting = Set(findings.filter(\.isCaught).map(\.id))
        try Terminal.put(
            "\(findings.count { $0.isCaught }) of \(findings.count) faults caught from outside, "
                + "by \(convicting.count) of \(ids.count) cases; seed \(seed)\n")
        guard convicting.count == ids.count else {
            let list = ids.subtracting(convicting).sorted().joined(separator: ", ")
            throw CommandError("no fault was caught by \(list)", exit: .linkFailed)
        }
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

    /// Returns a table of how each fault was caught.
    private static func table(_ findings: [Selftest.FaultCheckResult]) -> String {
        let rows = findings.map { finding in
            let cells = [
                finding.check.bug.name, finding.check.subject.id, finding.isCaught ? "yes" : "**no**",
                finding.words.printable.replacingOccurrences(of: "|", with: "\\|"),
            ]
            return "| \(cells.joined(separator: " | ")) |\n"
        }
        return "| fault | case | caught | message of the case |\n|---|---|---|---|\n" + rows.joined()
    }
}
