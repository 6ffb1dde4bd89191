import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform`: whether a program conforms to the MPC/1 specification.
enum ConformListCommand: Subcommand {
    static let usage = Usage(
        ["list"], "list the cases of the conformance suite",
        details:
            "Prints a line for each case: id, chapter of the specification, level and title.",
        options: ConformCommand.choosing)

    static func run(_ arguments: Arguments) throws(CommandError) {
        let rows = try ConformCommand.selection(arguments).cases.map { one in
            "\(one.id.padded(to: 8)) \(one.chapter.padded(to: 5)) \(one.level.rawValue.padded(to: 8)) \(one.title)\n"
        }
        try Terminal.put(rows.joined())
    }
}

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
                .init("--junit", "FILE", "write the report as JUnit XML"),
                .init("--json", "FILE", "write the report as JSON, for 'multipeer-conform repro'"),
                .init("--html", "DIR", "write the report as HTML pages with the wire log of each case"),
                .init("--markdown", "FILE", "write a summary as Markdown"),
            ],
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
        try await ConformCommand.check(plan)
        let report = try await ConformCommand.report(plan)
        try Terminal.put(report.text)
        try write(report, arguments)
        try ConformCommand.judge(report)
    }

    private static func write(_ report: Report, _ arguments: Arguments) throws(CommandError) {
        if let path = arguments.value("--junit") {
            try AtomicFile.write(Array(report.junit.utf8), to: path, replacing: true)
        }
        if let path = arguments.value("--markdown") {
            try AtomicFile.write(Array(report.markdown.utf8), to: path, replacing: true)
        }
        if let path = arguments.value("--json") {
            guard let json = try? report.json() else {
                throw CommandError("cannot write JSON", exit: .system)
            }
            try AtomicFile.write(json, to: path, replacing: true)
        }
        guard let folder = arguments.value("--html") else { return }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw CommandError("cannot create directory \(folder.printable)", exit: .system)
        }
        for page in report.pages {
            try AtomicFile.write(Array(page.text.utf8), to: "\(folder)/\(page.name)", replacing: true)
        }
    }

    private static func skips(_ arguments: Arguments) throws(CommandError) -> [String: String] {
        guard let path = arguments.value("--skips") else { return [:] }
        var skips: [String: String] = [:]
        for line in String(decoding: try AtomicFile.read(path), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            guard let id = words.first, !id.hasPrefix("#") else { continue }
            guard words.count == 2 else {
                throw arguments.commandError("\(path.printable): '\(String(id).printable)' has no reason")
            }
            skips[String(id)] = String(words[1])
        }
        return skips
    }
}

/// What the subcommands of `conform` have in common.
enum ConformCommand {
    static let choosing: [Usage.Option] = [
        .init(
            "--section", "N", isRepeatable: true, "select this section, by name or chapter: LINK, 6 or 6.3"),
        .init(
            "--level", "LEVEL", isRepeatable: true,
            "select cases of this level: core, channels, datagram, mesh, invite or code"),
        .init("--quick", "select cases that take less than a second"),
    ]

    static let exits: [ExitCode] = [.linkFailed, .badInput, .system, .interrupted]
    static let meanings: [ExitCode: String] = [
        .success: "all cases passed", .linkFailed: "a case failed",
        .badInput: "the suite itself could not run a case",
    ]

    /// This program's shim.
    static var ownShim: String { "'\(ChildProcess.ownPath)' shim" }

    static func selection(_ arguments: Arguments) throws(CommandError) -> CaseSelection {
        var selection = CaseSelection()
        selection.words = arguments.operands
        selection.sections = arguments.values("--section")
        for word in arguments.values("--level") {
            guard let level = Level(rawValue: word) else {
                let list = Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw arguments.commandError("option '--level' takes one of \(list), not '\(word)'")
            }
            selection.levels.append(level)
        }
        selection.isQuick = arguments.has("--quick")
        if let section = selection.unknownSections.first {
            throw arguments.commandError("unknown section '\(section.printable)'")
        }
        return selection
    }

    static func seed(_ arguments: Arguments) throws(CommandError) -> UInt64 {
        UInt64(try arguments.number("--seed", in: 0...Int.max) ?? Int.random(in: 0...999_999_999))
    }

    /// Throws when the shim does not work: then no case would tell anything about the program.
    static func check(_ plan: TestPlan) async throws(CommandError) {
        let fault = try await Worker("shim").run { () throws(CommandError) in TestRunner(plan).shimFault() }
        guard let fault else { return }
        Terminal.show("FAULT  shim  \(fault.printable)\n")
        throw CommandError(
            "the shim does not work: \(fault.printable)", hint: "it is '\(plan.shim.printable)'",
            exit: .badInput)
    }

    /// Runs a plan on its own threads, and shows on standard error each case that does not pass.
    static func report(_ plan: TestPlan) async throws(CommandError) -> Report {
        let outcomes = try await Worker("conform").run { () throws(CommandError) in
            TestRunner(plan).callAsFunction { outcome in
                guard outcome.verdict != .pass else { return }
                Terminal.show("\(outcome.verdict.rawValue)  \(outcome.name)  \(outcome.reason.printable)\n")
            }
        }
        return Report(
            Report.Invocation(shim: plan.shim, seed: plan.seed, isStrict: plan.isStrict), outcomes)
    }

    /// Throws the error for the report, with its exit code, unless all cases passed.
    static func judge(_ report: Report) throws(CommandError) {
        if report.count(.fault) > 0 {
            throw CommandError("\(report.count(.fault)) cases could not be run", exit: .badInput)
        }
        if report.count(.fail) > 0 {
            throw CommandError(
                "\(report.count(.fail)) of \(report.outcomes.count) cases failed", exit: .linkFailed)
        }
    }
}
