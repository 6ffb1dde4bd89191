import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// What the subcommands of `conform` have in common.
enum ConformCommand {
    static let choosing: [Usage.Option] = [
        .init(
            "--section", "N", isRepeatable: true, "select this section, by name or chapter: LINK, 6 or 6.3"),
        .init(
            "--level", "LEVEL", words: Level.allCases.map(\.rawValue), isRepeatable: true,
            "select cases of this level: core, channels, datagram, mesh, invite, discovery or code"),
        .init("--quick", "select cases that take less than a second"),
    ]

    static let exits: [ExitCode] = [.linkFailed, .badInput, .system, .interrupted]
    static let meanings: [ExitCode: String] = [
        .success: "all cases passed", .linkFailed: "a case failed",
        .badInput: "the suite itself could not run a case",
    ]

    /// This program's shim.
    static var ownShim: String { "'\(ChildProcess.ownPath)' shim" }

    /// * `words`: the cases, if they are not all operands.
    static func selection(
        _ arguments: Arguments, words: [String]? = nil
    ) throws(CommandError) -> CaseSelection {
        var selection = CaseSelection()
        selection.words = words ?? arguments.operands
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

    /// Reads a report that was written as JSON.
    static func saved(_ path: String, _ arguments: Arguments) throws(CommandError) -> SavedReport {
        let bytes = try AtomicFile.read(path, limit: 1 << 28)
        guard let saved = try? JSONDecoder().decode(SavedReport.self, from: Data(bytes)) else {
            throw arguments.commandError("\(path.printable) is not a JSON report")
        }
        return saved
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
    ///
    /// * `isTold`: whether each case is shown, even without a terminal.
    static func report(_ plan: TestPlan, isTold: Bool = false) async throws(CommandError) -> Report {
        let progress = RunProgress(of: TestRunner(plan).count, isTold: isTold)
        let outcomes = try await Worker("conform").run { () throws(CommandError) in
            TestRunner(plan).callAsFunction { progress.add($0) }
        }
        progress.end()
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
