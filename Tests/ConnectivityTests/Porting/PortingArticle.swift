import Foundation
import TestSupport
import Testing

/// The article `WillMyApplicationRun.md`: the rows of its checklist, and the differences that it shows.
struct PortingArticle {
    /// What happens to an application that uses a symbol.
    enum Verdict: String {
        case unchanged, differs, edit
    }

    /// One row of the checklist.
    struct Row: CustomTestStringConvertible {
        let symbols: String
        let verdict: Verdict
        let advice: String
        /// The command that finds uses of the symbols.
        let search: String

        var testDescription: String { symbols }

        /// The patterns of the search.
        var patterns: [String] { search.matches(of: /'([^']*)'/).map { String($0.1) } }

        /// Whether the row names the member of a type, or the type or constant itself if there is no member.
        func names(_ name: String, of owner: String?) -> Bool {
            symbols.components(separatedBy: "; ").contains { part in
                guard let owner else { return part.contains("`\(name)`") }
                return part.contains("`\(owner)`") && part.contains("`\(name)`")
            }
        }
    }

    let text: String
    let rows: [Row]

    init() throws {
        let path = "Sources/MultipeerConnectivity/MultipeerConnectivity.docc/WillMyApplicationRun.md"
        text = try String(contentsOf: PortingArticle.package.appending(path: path), encoding: .utf8)
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 4, let verdict = Verdict(rawValue: cells[1]) else { return nil }
            let search = cells[3].trimmingCharacters(in: ["`"])
            return Row(symbols: cells[0], verdict: verdict, advice: cells[2], search: search)
        }
    }

    /// What stands between "```diff" and "```", in order.
    var diffs: [String] {
        text.components(separatedBy: "```diff\n").dropFirst().compactMap { rest in
            rest.firstRange(of: "\n```").map { String(rest[..<$0.lowerBound]) }
        }
    }

    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Runs a command of the shell in a folder, and returns its exit code and what it printed.
    static func run(_ command: String, in folder: URL) throws -> (code: Int32, output: String, errors: String)
    {
        let ending = try ToolProcess.run("/bin/sh", ["-c", command], in: folder)
        return (ending.code, ending.output, ending.errors)
    }
}
