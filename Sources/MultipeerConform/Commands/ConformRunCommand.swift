import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform run`: plays the peer of a program that is controlled through a shim.
enum ConformRunCommand: Subcommand {
    static let usage = Usage(
        ["run"], operands: "[IDS|GLOBS…]", mostOperands: 1_000,
        "run the conformance suite against a program",
        details: """
            The suite plays the peer, byte by byte. The program is controlled through its shim: a process that reads
            requests and writes answers and events, one JSON object per line. This library's is 'multipeer-conform shim'.

            Without IDS, runs all cases. Each begins and ends with an exchange that must work, and afterwards the program
            must not hold more memory, descriptors or threads than before. A case that depends on the order of uids is
            run twice, as ID/tester-lower and ID/tester-higher.

            The file of --skips has a line for each case to skip: its id and the reason.
            """,
        options: [
            .init(
                "--shim", "COMMAND", "command that starts the program's shim; default: multipeer-conform shim"
            )
        ]
            + ConformCommand.choosing + [
                .init("--strict", "also require what the specification only recommends"),
                .init("--seed", "N", "random seed; default: random"),
                .init("--repeat", "K", "run everything K times, 1 to 1000"),
                .init("--timeout", "S", "timeout per case in seconds, 1 to 3600; default: set by each case"),
                .init("--jobs", "N", "run N cases in parallel, 1 to 64; default: 4"),
                .init("--skips", "FILE", "skip the cases in FILE, each with a reason"),
            ] + ReportFiles.options,
        common: ["--shim", "--section", "--level", "--quick", "--seed", "--jobs", "--json", "--html"],
        exits: ConformCommand.exits, meanings: ConformCommand.meanings)

    static func run(_ arguments: Arguments) async throws(CommandError) {
        let selection = try ConformCommand.selection(arguments)
        if let word = selection.unknown.first {
            throw arguments.commandError("unknown case '\(word.printable)'")
        }
        let seed = try ConformCommand.seed(arguments)
        var plan = TestPlan(
            shim: arguments.value("--shim") ?? ConformCommand.ownShim, cases: selection.cases, seed: seed)
        plan.repetitions = try arguments.number("--repeat", in: 1...1_000) ?? 1
        plan.timeout = try arguments.number("--timeout", in: 1...3_600)
        plan.jobs = try arguments.number("--jobs", in: 1...64) ?? 4
        plan.isStrict = arguments.has("--strict")
        plan.skips = try skips(arguments)
        guard !plan.cases.isEmpty else { throw arguments.commandError("no matching case") }
        NamespacePermission.obtain(for: plan.cases)
        try await ConformCommand.check(plan)
        let files = ReportFiles(arguments)
        let report = try await ConformCommand.report(plan, isTold: arguments.has("--progress"))
        try Terminal.put(report.text)
        try files.write(report)
        try ConformCommand.judge(report)
    }

    private static func skips(_ arguments: Arguments) throws(CommandError) -> [String: String] {
        guard let path = arguments.value("--skips") else { return [:] }
        var skips: [String: String] = [:]
        for line in String(decoding: try AtomicFile.read(path), as: UTF8.self).pieces(at: "\n") {
            let words = line.pieces(at: " ", atMost: 2)
            guard let id = words.first, !id.begins(with: "#") else { continue }
            guard words.count == 2 else {
                throw arguments.commandError("\(path.printable): '\(String(id).printable)' has no reason")
            }
            skips[String(id)] = String(words[1])
        }
        return skips
    }
}
