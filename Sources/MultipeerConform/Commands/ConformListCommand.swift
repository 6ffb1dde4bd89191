import Foundation
import Multipeer
import MultipeerConformance
import MultipeerCommandLine

/// `multipeer-conform list`: what the suite tries.
enum ConformListCommand: Subcommand {
    static let usage = Usage(
        ["list"], operands: "[IDS|GLOBS…]", mostOperands: 1_000, "list the cases of the conformance suite",
        details: """
            Prints for each case its id, the section of the specification, its level and its title; below it the rules that
            it tests and the planted faults that it must find.
            """,
        options: ConformCommand.choosing + [
            .init("--brief", "print only the first line of each case"),
            .init("--json", "print a JSON object for each case"),
        ])

    static func run(_ arguments: Arguments) throws(CommandError) {
        try arguments.exclude(["--brief", "--json"])
        let cases = try ConformCommand.selection(arguments).cases
        guard !cases.isEmpty else { throw arguments.commandError("no matching case") }
        guard !arguments.has("--json") else { return try putJSON(cases) }
        let rows = cases.map { one in
            let head = [
                one.id.padded(to: 8), one.chapter.padded(to: 5), one.level.rawValue.padded(to: 8), one.title,
            ].joined(separator: " ")
            guard !arguments.has("--brief") else { return head + "\n" }
            var lines = [head]
            if !one.rules.isEmpty { lines.append("         rules: \(one.rules.joined(separator: ", "))") }
            lines.append("         faults: \(one.bugs.map(\.name).joined(separator: ", "))")
            return lines.joined(separator: "\n") + "\n"
        }
        try Terminal.put(rows.joined())
    }

    private static func putJSON(_ cases: [Case]) throws(CommandError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for one in cases {
            let row = Row(
                id: one.id, clause: one.chapter, level: one.level.rawValue, title: one.title,
                stimulus: one.stimulus, expectation: one.expectation, rules: one.rules,
                faults: one.bugs.map(\.name), orders: one.orders.map(\.rawValue))
            guard let line = try? encoder.encode(row) else {
                throw CommandError("cannot write JSON", exit: .system)
            }
            try Terminal.put(Array(line) + [UInt8(ascii: "\n")])
        }
    }

    private struct Row: Encodable {
        let id: String
        let clause: String
        let level: String
        let title: String
        let stimulus: String
        let expectation: String
        let rules: [String]
        let faults: [String]
        let orders: [String]
    }
}
