import Foundation

/// The sentences of a file that people read: comments, documents, or the texts that a command prints.
///
/// Code in backticks, samples and interpolations are left out. Line breaks and comment marks are spaces, so that a
/// phrase is found in wrapped text, too.
struct Prose {
    let path: String
    let text: String

    /// Returns the prose that `ProseTests` checks.
    static func ofRepository() throws -> [Prose] {
        let documents = try Repository.files(under: "Spec") {
            $0.hasSuffix(".md") && !$0.contains("/") && $0 != "rules.md"
        }
        let readmes = try ["Spec", "Sources", "Tests", "Fuzz", "Benchmarks", "Examples"].flatMap { folder in
            try Repository.files(under: folder) { $0.hasSuffix("/README.md") || $0 == "README.md" }
        }
        let articles = try Repository.files(under: "Sources") {
            $0.contains(".docc/") && ($0.hasSuffix(".md") || $0.hasSuffix(".tutorial"))
        }
        let root = try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(Repository.file)
        let code = try Repository.files(under: "Sources") { isCode($0) }
        let printing = try ["Sources", "Examples"].flatMap { folder in
            try Repository.files(under: folder) { isPrinting("\(folder)/\($0)") }
        }
        let written = documents + readmes.filter { $0.path != "Spec/README.md" } + articles + root
        return written.map(document) + code.map(comments) + printing.map(texts)
    }

    private static func isCode(_ path: String) -> Bool {
        [".swift", ".h", ".c"].contains { path.hasSuffix($0) }
    }

    /// Whether users of the command, or of an example, read the strings of that file.
    private static func isPrinting(_ path: String) -> Bool {
        let sources = ["MultipeerCLI", "MultipeerCommandLine", "MultipeerConform"].map { "Sources/\($0)/" }
        return path.hasSuffix(".swift") && (["Examples/"] + sources).contains { path.hasPrefix($0) }
    }

    private static func document(_ file: Repository.File) -> Prose {
        Prose(path: file.path, text: joined(withoutCode(file.text)))
    }

    private static func comments(_ file: Repository.File) -> Prose {
        let lines = file.lines.map { line -> Substring in
            guard line.contains("//") else { return "" }
            let code = line.replacing(string, with: "")
            guard let mark = code.firstRange(of: "//") else { return "" }
            return code[mark.upperBound...].drop { $0 == "/" }
        }
        return Prose(path: file.path, text: joined(withoutCode(lines.joined(separator: "\n"))))
    }

    private static func texts(_ file: Repository.File) -> Prose {
        var texts: [Substring] = []
        var isLong = false
        for line in file.lines {
            if line.contains("\"\"\"") {
                isLong.toggle()
            } else if isLong {
                texts.append(line.replacing(interpolation, with: ""))
            } else if !line.drop(while: { $0 == " " }).hasPrefix("//") {
                texts += line.replacing(interpolation, with: "").matches(of: string).map(\.output)
            }
        }
        return Prose(path: file.path, text: joined(texts.joined(separator: "\n")))
    }

    private static func withoutCode(_ text: String) -> String {
        text.replacing(#/```.*?```/#.dotMatchesNewlines(), with: "").replacing(#/`[^`\n]*`/#, with: "`")
    }

    private static func joined(_ text: String) -> String {
        text.split { $0.isWhitespace }.joined(separator: " ")
    }

    private static var string: Regex<Substring> { #/"(?:[^"\\]|\\.)*"/# }
    /// An interpolation with at most two levels of parentheses in it.
    private static var interpolation: Regex<Substring> {
        #/\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/#
    }
}
