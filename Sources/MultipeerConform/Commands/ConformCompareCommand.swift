import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform compare`: the reports of several implementations side by side.
enum ConformCompareCommand: Subcommand {
    static let usage = Usage(
        ["compare"], operands: "REPORT REPORT…", mostOperands: 64,
        "compare the reports of several implementations",
        details: """
            Each REPORT is a file from 'multipeer-conform run --json'. An implementation is named after its file, without '.json'.
            Shows first the cases whose verdicts differ, then how many cases of each section and level passed.

            Reports of different editions of the suite cannot be compared. Different seeds are pointed out.
            """,
        options: [.init("--html", "FILE", "also write the matrix of all cases as one HTML page")],
        exits: [.badInput, .system],
        meanings: [.badInput: "the reports are of different editions of the suite"])

    static func run(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.count >= 2 else {
            throw arguments.commandError("at least two REPORTs are required")
        }
        var columns: [Comparison.Column] = []
        for path in arguments.operands {
            columns.append(
                .init(name: name(path, columns), report: try ConformCommand.saved(path, arguments)))
        }
        let comparison: Comparison
        do throws(Comparison.Incomparable) {
            comparison = try Comparison(columns)
        } catch {
            throw CommandError(
                "\(error)".printable, hint: "run the same edition of the suite for each", exit: .badInput)
        }
        try Terminal.put(comparison.text)
        guard let path = arguments.value("--html") else { return }
        try AtomicFile.publish(Array(comparison.html.utf8), to: path)
    }

    /// The name of a file without its folder and extension; with a number if it is not the first of that name.
    private static func name(_ path: String, _ columns: [Comparison.Column]) -> String {
        let file = String(path.pieces(at: "/").last ?? "report")
        let name = file.ends(with: ".json") && file.count > 5 ? String(file.dropLast(5)) : file
        let others = columns.count { $0.name == name || $0.name.begins(with: "\(name) (") }
        return others == 0 ? name : "\(name) (\(others + 1))"
    }
}
